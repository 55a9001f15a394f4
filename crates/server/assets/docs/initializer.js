// Without an example, "Try it out" leaves an optional parameter empty. With one, it would filter every list, and send the same
// `Idempotency-Key` with every request.
const withoutOptionalExamples = (document) => {
  const operations = Object.values(document.paths).flatMap(Object.values);
  const parameters = [...operations.flatMap(({ parameters = [] }) => parameters), ...Object.values(document.components.parameters)];
  for (const parameter of parameters) if (!parameter.required) delete parameter.example;
  return document;
};

// Shows /openapi.json with Swagger UI. Credentials are kept until the page is closed.
SwaggerUIBundle({
  url: "/openapi.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  plugins: [{
    statePlugins: { spec: { wrapActions: { updateJsonSpec: (update) => (document) => update(withoutOptionalExamples(document)) } } },
  }],
  showExtensions: true,
  validatorUrl: null,
});
