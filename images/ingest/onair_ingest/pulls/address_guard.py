"""Which addresses a pull may connect to: nothing inside, whatever name leads there."""

from __future__ import annotations

from onair_crds.contract.inside_addresses import InsideAddress, InsideRules


class PullRefused(Exception):
    """A pull's address cannot be used; of its url the text holds only host and port."""


class AddressGuard:
    """Resolves hosts to addresses that a pull may connect to."""

    def __init__(self, rules: InsideRules) -> None:
        self._rules = rules

    async def resolve(self, host: str, port: int) -> list[str]:
        """Addresses of a host, all of them allowed. Connect to one of these: the name may change.

        Raises:
            PullRefused: there is none, or one of them is inside.
        """
        try:
            found = await self._rules.addresses(host, port)
        except (OSError, UnicodeError) as error:  # a part of it is empty, or too long
            raise PullRefused(f"the name {host} cannot be resolved") from error
        except InsideAddress as error:
            raise PullRefused(
                f"{host} is at an address inside this installation, which is not allowed"
            ) from error
        addresses = list(dict.fromkeys(str(address[0]).partition("%")[0] for _, address in found))
        if not addresses:
            raise PullRefused(f"the name {host} has no address")
        return addresses
