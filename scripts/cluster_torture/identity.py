"""An identity issuer for the admins of a cluster, and a member of each account."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from cluster_parts.cluster import Cluster
from cluster_parts.machines import ending

from pgs.actors.messages.account.members import AcceptInvite
from pgs.app import open_core
from pgs.clock import SystemClock
from pgs.config import Config
from pgs.devissuer.people import Person
from pgs.devissuer.signing import Signer, new_key
from pgs.domain.invites import Invite
from pgs.operator.ready_partners import ReadyPartner

CLIENT_ID: Final = "pgs-portal"
ISSUER: Final = "http://127.0.0.1/issuer"
"""The issuer in tokens and settings. Nobody connects there: each node is told where the key is."""

LIFETIME_S: Final = 20 * 3600
"""Seconds that a token is valid: longer than any run, and less than the day that nodes accept."""

_PORT: Final = 8002


class Issuer:
    """Signs the admins' tokens, and publishes its key on the loopback of each node's machine.

    So a link that is down does not cut a node off from the issuer, which is not under test.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._signer = Signer(ISSUER, CLIENT_ID, SystemClock(), new_key())
        self._processes: list[subprocess.Popen[bytes]] = []
        folder = cluster.folder / "issuer"
        folder.mkdir()
        (folder / "jwks.json").write_bytes(msgspec.json.encode(self._signer.key_set()))
        for node in cluster.nodes.values():
            port = cluster.machines.address(node.name, _PORT).rpartition(":")[2]
            node.settings |= {
                "PGS_IDENTITY_ISSUER": ISSUER,
                "PGS_IDENTITY_CLIENT_ID": CLIENT_ID,
                "PGS_IDENTITY_JWKS_URL": f"http://127.0.0.1:{port}/jwks.json",
            }
            self._serve(cluster, node.name, folder, port)

    def _serve(self, cluster: Cluster, name: str, folder: Path, port: str) -> None:
        words = ["-m", "http.server", "--bind", "127.0.0.1", "--directory", str(folder), port]
        command = cluster.machines.inside(name, [*ending(), sys.executable, *words])
        self._processes.append(
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )

    def token(self, partner_id: str) -> str:
        """Return a token of the account's member."""
        expires_at = SystemClock().now() + LIFETIME_S
        return self._signer.token(_member(partner_id), {"exp": expires_at, "sid": partner_id})

    def close(self) -> None:
        """End the servers."""
        for process in self._processes:
            process.kill()
            process.wait()


def _member(partner_id: str) -> Person:
    """Return the account's first admin, with the e-mail address that scripts/seed.py invites."""
    return Person(f"admin-of-{partner_id}", partner_id, f"admin@{partner_id}.example")


async def accept_invites(cluster: Cluster, partners: Sequence[ReadyPartner]) -> None:
    """Let the first admin of each account accept the invite. No node may run."""
    config = Config(data_dir=cluster.ring.parent, database_url=cluster.pair.url)
    async with open_core(config) as core:
        for partner in partners:
            person = _member(partner.partner_id)
            accept = AcceptInvite(person.uid, person.email, partner.invite_id)
            accepted = await core.directory.partner(partner.partner_id).account().ask(accept)
            assert isinstance(accepted, Invite), accepted
