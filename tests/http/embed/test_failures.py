"""Failures of the frame's document: a bare status with an empty body."""

from pathlib import Path

import pytest
import trio

from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import AddOrigin, SetRate
from pgs.actors.shared.snapshots import STALE_S
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from tests.http.embed.embedding import ROUTES, embedding_service
from tests.journeys.client import Reply
from tests.journeys.partners import account
from tests.journeys.service import Service


def _without_id(reply: Reply) -> tuple[int, list[tuple[str, str]], bytes]:
    return (
        reply.status,
        [(name, value) for name, value in reply.headers if name not in ("x-request-id", "date")],
        reply.content,
    )


async def _get(service: Service, path: str) -> Reply:
    return await service.public.call("GET", path)


async def test_every_404_is_the_same(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        await service.partner("gone")
        await account(service.core, "gone", AddOrigin(PLATFORM, "live", "https://gone.example"))
        assert (await _get(service, "/embed/gone")).status == 200
        await account(service.core, "gone", SwitchAccount(PLATFORM, active=False))
        malformed = (
            "/embed/ACME",
            "/embed/a",
            "/embed/%ff",
            "/embed/live",
            "/embed/test",
            "/embed/acme.",
            "/embed/",
            "/embed",
        )
        deeper = (
            "/embed/acme/",
            "/embed/test/acme/",
            "/embed/test/",
            "/embed/live/acme",
            "/embed/test/test/acme",
            "/embed//acme",
        )
        files = (
            "/embed/pgs-frame-00000000.js",
            "/embed/frame.html",
            "/embed/test/pgs-embed.js",
            "/embed/..%2fpgs-embed.js",
        )
        answers = [
            _without_id(await _get(service, path))
            for path in (
                "/embed/nobody",
                "/embed/gone",
                "/embed/test/gone",
                *malformed,
                *deeper,
                *files,
            )
        ]
        assert answers[0][0] == 404
        assert answers == [answers[0]] * len(answers)


async def test_an_account_that_is_switched_on_again_is_embedded_again(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        await account(service.core, "acme", SwitchAccount(PLATFORM, active=False))
        assert (await _get(service, "/embed/acme")).status == 404
        await account(service.core, "acme", SwitchAccount(PLATFORM, active=True))
        assert (await _get(service, "/embed/acme")).status == 200


@pytest.mark.parametrize(("environment", "route"), ROUTES)
async def test_a_partner_without_origins_in_the_environment_is_a_409(
    tmp_path: Path, environment: Environment, route: str
) -> None:
    async with embedding_service(tmp_path) as service:
        assert (await _get(service, f"{route}bare")).status == 409
        other: Environment = "test" if environment == "live" else "live"
        await account(service.core, "bare", AddOrigin(PLATFORM, other, "https://bare.example"))
        assert (await _get(service, f"{route}bare")).status == 409
        await account(
            service.core, "bare", AddOrigin(PLATFORM, environment, "https://bare.example")
        )
        assert (await _get(service, f"{route}bare")).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_another_method_is_a_405_that_names_get_and_head(tmp_path: Path, method: str) -> None:
    async with embedding_service(tmp_path) as service:
        for path in ("/embed/acme", "/embed/test/acme", "/embed/nobody", "/embed/pgs-embed.js"):
            reply = await service.public.call(method, path)
            assert (reply.status, reply.header("allow")) == (405, "GET, HEAD"), path
        assert (await service.public.call(method, "/embed/acme/deeper")).status == 404


async def test_documents_of_both_environments_share_a_rate_limit_that_calls_do_not_use(
    tmp_path: Path,
) -> None:
    async with embedding_service(tmp_path) as service:
        await account(service.core, "acme", SetRate(PLATFORM, 5, 1))
        known = service.core.parts.registry.account("acme")
        assert known is not None
        partner = service.core.directory.partner("acme")
        later = (
            trio.current_time() + 60
        )  # a bucket's time never goes back, so it regains nothing until then
        for _ in range(4):
            assert partner.embed_admission.admit(known, later).refused_by is None
        assert (await _get(service, "/embed/acme")).status == 200
        for path in ("/embed/acme", "/embed/test/acme"):
            reply = await _get(service, path)
            assert reply.status == 429
            assert reply.header("retry-after") is not None
        assert partner.admission.admit(known, later).refused_by is None
        assert (await _get(service, "/embed/nobody")).status == 404
        assert (await _get(service, "/embed/pgs-embed.js")).status == 200
        assert (await _get(service, "/embed/test/bare")).status == 409, (
            "the partners share a bucket"
        )


async def test_the_process_bucket_covers_documents_and_files(tmp_path: Path) -> None:
    async with embedding_service(tmp_path, process_rate=10) as service:
        admission = service.core.directory.admission.process
        later = trio.current_time() + 60
        while admission.admit(later).allowed:
            pass
        for path in ("/embed/acme", "/embed/test/acme", "/embed/pgs-embed.js"):
            assert (await _get(service, path)).status == 429


async def test_a_document_that_does_not_exist_uses_up_no_rate_limit(tmp_path: Path) -> None:
    async with embedding_service(tmp_path, process_rate=10) as service:
        for _ in range(30):
            assert (await _get(service, "/embed/nobody")).status == 404
        assert (await _get(service, "/embed/acme")).status == 200


async def test_a_registry_that_cannot_be_read_is_a_500(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        service.core.parts.registry.age.renew(trio.current_time() - STALE_S)
        for path in ("/embed/acme", "/embed/test/nobody"):
            assert (await _get(service, path)).status == 500
        assert (await _get(service, "/embed/A")).status == 404


async def test_a_crash_is_a_bare_500(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with embedding_service(tmp_path) as service:
        monkeypatch.setattr(service.core.parts.registry, "account", lambda partner_id: 1 / 0)
        assert (await _get(service, "/embed/acme")).status == 500


@pytest.mark.parametrize("only", ["test", "live"])
async def test_the_other_environment_of_a_restricted_deployment_is_not_found(
    tmp_path: Path, only: str
) -> None:
    async with embedding_service(tmp_path, restrict_environment=only) as service:
        answers = {
            environment: (await _get(service, f"{route}acme")).status
            for environment, route in ROUTES
        }
        assert answers == {
            environment: 200 if environment == only else 404 for environment, _ in ROUTES
        }
