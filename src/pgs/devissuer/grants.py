"""The authorization code grant with PKCE, with authlib's server and grant classes.

These classes need no web framework. authlib has no types, so only this file uses it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
from authlib.oauth2.rfc6749 import (
    AuthorizationServer,
    ClientMixin,
    InvalidRequestError,
    OAuth2Error,
    OAuth2Payload,
    OAuth2Request,
)
from authlib.oauth2.rfc6749.grants import (
    AuthorizationCodeGrant,
)
from authlib.oauth2.rfc7636 import CodeChallenge

from pgs.clock import Clock, Rng
from pgs.devissuer.people import Person
from pgs.devissuer.signing import LIFETIME_S, Signer
from pgs.domain import base64url
from pgs.domain.secrets import HidesSecrets

CODE_LIFETIME_S: Final = 60
"""Seconds that a sign-in code is valid. The browser passes it to the client immediately."""

CODES_MAX: Final = 1000
"""Codes for a sign-in that wait to be used. Beyond this number the oldest is dropped."""

SCOPES: Final = ("openid", "email", "profile")


class Reply(HidesSecrets, msgspec.Struct, frozen=True):
    """An answer to the browser or to the client. `body` is JSON, empty for a redirect."""

    SECRETS = frozenset({"body", "headers"})

    status: int
    body: dict[str, Any]
    headers: tuple[tuple[str, str], ...] = ()


class _Client(ClientMixin):
    """The one client. It is public, because it runs in a browser."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.redirect_uris: set[str] = set()

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        """Return None: every request must name its redirect URI."""

    def get_allowed_scope(self, scope: str | None) -> str:
        return " ".join(word for word in (scope or "").split() if word in SCOPES)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.redirect_uris

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


class SignIn(msgspec.Struct, frozen=True):
    """A person who has signed in. `sid` names the sign-in; every token from it has this `sid`."""

    person: Person
    sid: str


class _Code(msgspec.Struct, frozen=True):
    """The sign-in that a code stands for. authlib prescribes the names of most fields."""

    client_id: str
    redirect_uri: str
    scope: str
    sign_in: SignIn
    nonce: str | None
    code_challenge: str
    code_challenge_method: str
    expires_at: int

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


class _Payload(OAuth2Payload):
    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._lists: dict[str, list[str]] = {}
        for name, value in pairs:
            self._lists.setdefault(name, []).append(value)

    @property
    def data(self) -> dict[str, str]:
        return {name: values[0] for name, values in self._lists.items()}

    @property
    def datalist(self) -> dict[str, list[str]]:
        return self._lists


class _Request(OAuth2Request):
    """A request with its parameters: the query of an authorization, the form of a token request."""

    def __init__(self, method: str, uri: str, parameters: str) -> None:
        super().__init__(method, uri)
        self.payload = _Payload(parse_qsl(parameters, keep_blank_values=True, max_num_fields=32))

    @property
    def args(self) -> dict[str, str]:
        return self.payload.data

    @property
    def form(self) -> dict[str, str]:
        return self.payload.data


class _Pkce(CodeChallenge):
    """PKCE, which is required here with the method S256.

    authlib accepts a request without a challenge, and treats a challenge without a method as
    `plain`.
    """

    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        if grant.request.payload.data.get("code_challenge_method") != "S256":
            raise InvalidRequestError(
                "A code_challenge with code_challenge_method S256 is required"
            )
        super().validate_code_challenge(grant, redirect_uri)


class _Server(AuthorizationServer):
    """authlib's server with our requests and replies. The grants store their codes in `codes`."""

    def __init__(self, client: _Client, signer: Signer, clock: Clock, rng: Rng) -> None:
        super().__init__(scopes_supported=None)
        self.client, self.signer, self.clock, self.rng = client, signer, clock, rng
        self.codes: dict[str, _Code] = {}
        self.register_token_generator("default", self._generate)
        self.register_grant(_Grant, [_Pkce(required=True)])

    def query_client(self, client_id: str) -> _Client | None:
        return self.client if client_id == self.client.client_id else None

    def _generate(self, *, user: SignIn, scope: str, **_: object) -> dict[str, object]:
        access_token = self.signer.token(user.person, {"sid": user.sid})
        return {
            "token_type": "Bearer",
            "access_token": access_token,
            "expires_in": LIFETIME_S,
            "scope": scope,
        }

    def save_token(self, token: object, request: object) -> None:
        """Store nothing: a token is valid because it is signed."""

    def create_oauth2_request(self, request: _Request) -> _Request:
        return request

    def send_signal(self, name: str, *_: object, **__: object) -> None:
        """Send nothing: there are no receivers."""

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> Reply:
        return Reply(status, body or {}, tuple(headers))


class _Grant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)

    def generate_authorization_code(self) -> str:
        return base64url.encode(self.server.rng.bytes(32))

    def save_authorization_code(self, code: str, request: _Request) -> None:
        codes = self.server.codes
        while len(codes) >= CODES_MAX:
            del codes[next(iter(codes))]
        data = request.payload.data
        codes[code] = _Code(
            client_id=request.client.client_id,
            redirect_uri=data["redirect_uri"],
            scope=request.scope,
            sign_in=request.user,
            nonce=data.get("nonce"),
            code_challenge=data["code_challenge"],
            code_challenge_method=data["code_challenge_method"],
            expires_at=self.server.clock.now() + CODE_LIFETIME_S,
        )

    def query_authorization_code(self, code: str, client: _Client) -> _Code | None:
        """Return what the code stands for, and delete it: a code can be tried once."""
        found: _Code | None = self.server.codes.pop(code, None)
        return (
            found
            if found
            and found.client_id == client.client_id
            and self.server.clock.now() < found.expires_at
            else None
        )

    def delete_authorization_code(self, authorization_code: _Code) -> None:
        """Do nothing: `query_authorization_code` has deleted it."""

    def authenticate_user(self, authorization_code: _Code) -> SignIn:
        return authorization_code.sign_in

    def create_token_response(self) -> tuple[int, dict[str, Any], list[tuple[str, str]]]:
        """Return authlib's response with the identity token that OpenID Connect adds."""
        status, token, headers = super().create_token_response()
        code: _Code = self.request.authorization_code
        if "openid" in code.scope.split():
            token["id_token"] = self.server.signer.token(
                code.sign_in.person,
                {"aud": code.client_id, "nonce": code.nonce, "sid": code.sign_in.sid},
            )
        return status, token, headers


class Grants:
    """The authorization and the token endpoint.

    `query` and `form` are percent-encoded, as the browser or the client sent them.
    """

    def __init__(self, client_id: str, signer: Signer, clock: Clock, rng: Rng) -> None:
        self._client = _Client(client_id)
        self._server = _Server(self._client, signer, clock, rng)
        self._issuer = signer.issuer

    def allow_redirects(self, *uris: str) -> None:
        """Accept these redirect URIs, which are compared character by character."""
        self._client.redirect_uris.update(uris)

    def ask(self, query: str) -> Reply | None:
        """Return None if a page may ask who signs in, else the error."""

        def check(request: _Request) -> None:
            self._server.get_consent_grant(request)

        return self._answer(check, "GET", "/authorize", query)

    def decide(self, query: str, sign_in: SignIn | None) -> Reply:
        """Return the redirect to the client: with a code, or `access_denied` without a sign-in."""

        def decide(request: _Request) -> Reply:
            grant = self._server.get_consent_grant(request, sign_in)
            reply: Reply = self._server.create_authorization_response(request, sign_in, grant)
            return reply

        return self._answer(decide, "POST", "/authorize", query) or Reply(500, {})

    def without_page(self, query: str, sign_in: SignIn | None) -> Reply | None:
        """Return the answer to a request that forbids a page (`prompt=none`); None to any other.

        It is a redirect: with a code, or with `login_required` for somebody who has not signed in.
        `ask` must have accepted the query.
        """
        asked = dict(parse_qsl(query, keep_blank_values=True))
        if asked.get("prompt") != "none":
            return None
        if sign_in is not None:
            return self.decide(query, sign_in)
        state = {"state": asked["state"]} if "state" in asked else {}
        answer = urlencode({"error": "login_required", **state})
        return Reply(302, {}, (("Location", f"{asked['redirect_uri']}?{answer}"),))

    def redeem(self, form: str) -> Reply:
        """Return the tokens for a code, or an error in the form of RFC 6749, section 5.2."""
        return self._answer(self._redeem, "POST", "/token", form) or Reply(500, {})

    def _redeem(self, request: _Request) -> Reply:
        if any(len(values) > 1 for values in request.payload.datalist.values()):
            raise InvalidRequestError("A parameter is repeated")
        reply: Reply = self._server.create_token_response(request)
        return reply

    def _answer(
        self, handle: Callable[[_Request], Reply | None], method: str, path: str, parameters: str
    ) -> Reply | None:
        try:
            return handle(_Request(method, self._issuer + path, parameters))
        except OAuth2Error as error:
            status, body, headers = error()
            return Reply(status, body or {}, tuple(headers))
        except ValueError:
            # There are too many parameters, or authlib cannot quote one of them in its error.
            return Reply(400, {"error": "invalid_request"})


def metadata(issuer: str) -> Mapping[str, object]:
    """Return the discovery document."""
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "jwks_uri": f"{issuer}/jwks.json",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "scopes_supported": list(SCOPES),
        "claims_supported": ["sub", "name", "email", "email_verified", "sid"],
        "prompt_values_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    }
