"""Signing in at the development issuer over real sockets, as a browser and the portal do it."""

import json

import pytest

from tests.devissuer.browser import (
    BACK,
    CHALLENGE,
    REFUSED,
    browser_at_issuer,
    claims_of,
    form,
    identity_of,
    query,
    returned,
    verifier_of,
)

# Sign-ins that succeed


async def test_a_person_is_picked_and_the_client_gets_tokens_that_the_service_accepts() -> None:
    async with browser_at_issuer() as browser:
        page = await browser.authorize()
        assert page.status == 200
        told = returned(await browser.choose("ann"))
        assert told["state"] == 'st"até '
        status, tokens = await browser.redeem(told["code"])
        assert (status, tokens["token_type"], tokens["expires_in"]) == (200, "Bearer", 3600)
        checked = verifier_of(browser.issuer)
        for name in ("id_token", "access_token"):
            assert identity_of(await checked.verify(tokens[name])) == ("ann", "ann@example.com")
        claims = claims_of(tokens["id_token"])
        assert (claims["nonce"], claims["aud"], claims["exp"] - claims["iat"]) == (
            "nonce-1",
            "pgs-portal",
            3600,
        )


async def test_a_browser_that_has_signed_in_gets_tokens_of_that_sign_in_without_a_page() -> None:
    async with browser_at_issuer() as browser:
        unknown = await browser.authorize(prompt="none")
        assert returned(unknown) == {"error": "login_required", "state": 'st"até '}
        assert returned(await browser.authorize(prompt="none", state=None)) == {
            "error": "login_required"
        }
        chosen = await browser.choose("ann")
        (cookie,) = (value for name, value in chosen.headers if name.lower() == b"set-cookie")
        told, *flags = cookie.decode().split("; ")
        assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= set(flags)
        _, first = await browser.redeem(returned(chosen)["code"])

        browser.cookie = told
        assert (await browser.authorize()).status == 200  # without prompt, the page asks again
        renewed = returned(await browser.authorize(prompt="none", nonce="nonce-2"))
        assert renewed["state"] == 'st"até '
        _, second = await browser.redeem(renewed["code"])
        before, after = claims_of(first["id_token"]), claims_of(second["id_token"])
        assert (after["sub"], after["nonce"], after["sid"]) == ("ann", "nonce-2", before["sid"])
        assert claims_of(second["access_token"])["sid"] == before["sid"]
        assert before["sid"] not in cookie.decode()

        wrong = await browser.authorize(prompt="none", redirect_uri="http://evil.example/")
        assert wrong.status == 400  # nobody is sent to an address that is not registered
        _, third = await browser.redeem(await browser.code("ann"))
        assert claims_of(third["id_token"])["sid"] != before["sid"]


async def test_the_oldest_sign_in_is_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pgs.devissuer.issuer.SESSIONS_MAX", 1)
    async with browser_at_issuer() as browser:
        cookies = []
        for _ in range(2):
            headers = (await browser.choose("ann")).headers
            cookies += [value for name, value in headers if name.lower() == b"set-cookie"]
        for cookie, known in zip(cookies, (False, True), strict=True):
            browser.cookie = cookie.decode().partition(";")[0]
            assert ("code" in returned(await browser.authorize(prompt="none"))) is known


async def test_a_person_with_an_unverified_address_signs_in_but_the_service_refuses_them() -> None:
    async with browser_at_issuer() as browser:
        status, tokens = await browser.redeem(await browser.code("bob"))
        assert status == 200
        assert await verifier_of(browser.issuer).verify(tokens["id_token"]) == REFUSED


async def test_without_the_openid_scope_there_is_no_identity_token() -> None:
    async with browser_at_issuer() as browser:
        status, tokens = await browser.redeem(await browser.code(scope="email"))
        assert (status, tokens["scope"], "id_token" in tokens) == (200, "email", False)


async def test_the_page_lists_everybody_says_it_is_for_development_and_escapes_names() -> None:
    async with browser_at_issuer() as browser:
        page = await browser.authorize()
    text, headers = page.content.decode(), dict(page.headers)
    assert "Ann &lt;Admin&gt;" in text
    assert "Bob &amp; Co" in text
    assert "(not verified)" in text
    assert "development sign-in" in text
    assert b"default-src 'none'" in headers[b"content-security-policy"]
    assert headers[b"cache-control"] == b"no-store"


async def test_a_person_who_cancels_is_sent_back_without_a_code() -> None:
    async with browser_at_issuer() as browser:
        assert returned(await browser.choose("")) == {
            "error": "access_denied",
            "state": 'st"até ',
        } | returned(await browser.choose(""))
        assert "code" not in returned(await browser.choose(""))


async def test_pages_of_another_origin_may_read_documents_and_tokens() -> None:
    async with browser_at_issuer() as browser:
        for method, path in (
            ("GET", "/.well-known/openid-configuration"),
            ("GET", "/jwks.json"),
            ("POST", "/token"),
        ):
            response = await browser.ask(method, path, form="" if method == "POST" else None)
            assert dict(response.headers)[b"access-control-allow-origin"] == b"*"


async def test_the_published_key_has_no_private_part() -> None:
    async with browser_at_issuer() as browser:
        (key,) = json.loads((await browser.ask("GET", "/jwks.json")).content)["keys"]
    assert key.keys() == {"kty", "n", "e", "kid", "alg", "use"}


# Requests that are refused


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"code_verifier": CHALLENGE}, "invalid_grant"),
        ({"code_verifier": "short"}, "invalid_request"),
        ({"redirect_uri": BACK + "/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"client_id": "another"}, "invalid_client"),
        ({"client_id": None}, "invalid_client"),
        ({"client_secret": "secret"}, "invalid_client"),
        ({"code": "guessed"}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": None}, "unsupported_grant_type"),
    ],
)
async def test_a_code_is_not_redeemed_with_a_wrong_or_missing_parameter(
    changes: dict[str, str | None], error: str
) -> None:
    async with browser_at_issuer() as browser:
        status, body = await browser.redeem(await browser.code(), **changes)
    assert (400 <= status < 500, body["error"]) == (True, error)


async def test_a_code_works_once_and_a_wrong_try_uses_it_up() -> None:
    async with browser_at_issuer() as browser:
        code = await browser.code()
        assert (await browser.redeem(code))[0] == 200
        assert (await browser.redeem(code))[1]["error"] == "invalid_grant"
        code = await browser.code()
        assert (await browser.redeem(code, code_verifier="w" * 43))[0] == 400
        assert (await browser.redeem(code))[1]["error"] == "invalid_grant"


async def test_a_parameter_that_is_repeated_is_refused() -> None:
    async with browser_at_issuer() as browser:
        twice = await browser.ask(
            "POST", "/token", form=form(await browser.code()) + "&code=another"
        )
        assert json.loads(twice.content)["error"] == "invalid_request"
        assert (
            await browser.ask(
                "GET", "/authorize", query() + "&redirect_uri=http://127.0.0.1:9/elsewhere"
            )
        ).status == 400


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "http://127.0.0.1:9/elsewhere"},
        {"redirect_uri": BACK + "?more"},
        {"redirect_uri": 'http://127.0.0.1:9/"quoted"'},
        {"redirect_uri": None},
        {"client_id": "another"},
        {"client_id": None},
    ],
)
async def test_nobody_is_sent_to_an_address_that_is_not_the_clients(
    changes: dict[str, str | None],
) -> None:
    async with browser_at_issuer() as browser:
        for response in (
            await browser.authorize(**changes),
            await browser.choose("ann", **changes),
        ):
            assert 400 <= response.status < 500
            assert b"location" not in dict(response.headers)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
    ],
)
async def test_a_request_without_pkce_or_of_another_type_sends_an_error_to_the_client(
    changes: dict[str, str | None], error: str
) -> None:
    async with browser_at_issuer() as browser:
        for response in (
            await browser.authorize(**changes),
            await browser.choose("ann", **changes),
        ):
            told = returned(response)
            assert (told["error"], "code" in told) == (error, False)


async def test_an_unknown_person_cannot_be_picked() -> None:
    async with browser_at_issuer() as browser:
        assert (await browser.choose("mallory")).status == 400


async def test_hostile_forms_are_refused_and_the_issuer_goes_on() -> None:
    async with browser_at_issuer() as browser:
        for body in (
            "%ff%fe=%00",
            "a" * 20_000,
            "&".join(f"a{index}=1" for index in range(100)),
            "=&=",
            "\x00",
        ):
            assert 400 <= (await browser.ask("POST", "/token", form=body)).status < 500
        assert (await browser.ask("GET", "/nothing")).status == 404
        assert (await browser.ask("GET", "/token")).status == 405
        assert (await browser.redeem(await browser.code()))[0] == 200
