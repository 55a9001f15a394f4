{{- define "bellwether.name" -}}
{{- /* A pod has a suffix of 17 characters, and the name of a node at most 64. */ -}}
{{- .Release.Name | trunc 30 | trimSuffix "-" -}}
{{- end -}}

{{- define "bellwether.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "bellwether.selector" . }}
{{- end -}}

{{- define "bellwether.selector" -}}
app.kubernetes.io/name: bellwether
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bellwether.secret" -}}
{{- required "existingSecret is required: the name of a Secret with the keys database-url, nats-urls and secret-key" .Values.existingSecret -}}
{{- end -}}

{{- define "bellwether.publicUrl" -}}
{{- required "publicUrl is required: the URL that users open, like https://alerts.example.com" .Values.publicUrl -}}
{{- end -}}

{{/* Fails unless each role has a node: without one, a part of the service would not run. */}}
{{- define "bellwether.checkRoles" -}}
{{- $known := list "api" "evaluator" "dispatcher" "feed" "jobs" -}}
{{- $found := list -}}
{{- range $name, $node := .Values.nodes -}}
{{- range $node.roles -}}
{{- if not (has . $known) -}}
{{- fail (printf "nodes.%s.roles: %q is no role; the roles are %s" $name . (join ", " $known)) -}}
{{- end -}}
{{- if gt (int $node.replicas) 0 -}}
{{- $found = append $found . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $known -}}
{{- if not (has . $found) -}}
{{- fail (printf "no node has the role %s; add it to one of nodes" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
