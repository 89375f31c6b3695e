// A certified OpenID Connect provider on a free port of this machine, for the tests. Everybody is
// signed in at once as `fay`. Its first line of output is its issuer.
//
//   node server.js [--email-in-tokens]   ID tokens have `email` and `email_verified`
//
// Without the option it has its defaults: only its userinfo endpoint gives these claims.

import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "portal",
        application_type: "native",
        token_endpoint_auth_method: "none",
        redirect_uris: ["http://127.0.0.1/callback"],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    conformIdTokenClaims: !process.argv.includes("--email-in-tokens"),
    cookies: { keys: ["only for tests"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@acme.example`, email_verified: true }),
    }),
  });
  const answer = provider.callback();
  server.on("request", async (request, response) => {
    if (!request.url.startsWith("/interaction/")) {
      answer(request, response);
      return;
    }
    const { prompt, session, params } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      await provider.interactionFinished(request, response, { login: { accountId: "fay" } });
      return;
    }
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope("openid email");
    const consent = { grantId: await grant.save() };
    await provider.interactionFinished(request, response, { consent });
  });
  console.log(`issuer ${issuer}`);
});
