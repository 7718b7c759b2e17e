"""Where each cell's model is reached: the provider, the protocol that it shares with the agent, and its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.prices import protocol_of
from orvl.project.judges import reach
from orvl.project.providers import Provider, missing_key, provider_of, unknown_provider
from orvl.project.python_file import UserFunction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orvl.project import Project
    from orvl.project.settings import Settings
    from orvl.types import Agent, Cell, Judge


@dataclass(frozen=True)
class Endpoint:
    """A provider, and the protocol in which an agent speaks to it."""

    provider: Provider
    protocol: str


def host_for(project: Project, agent: Agent, name: str, model: str, environment: Mapping[str, str]) -> Endpoint | None:
    """Where an agent's model is reached; None for agents that need no gateway. What cannot be is a sentence."""
    if name == "none" or agent.control:
        return None
    provider = provider_of(project.settings, name)
    if not needs_gateway(agent) and (provider is None or missing_key(provider, environment)):
        return None
    if provider is None:
        raise UserError(unknown_provider(project.settings, name))
    offered = provider.protocols_for(model)
    shared = [protocol for protocol in agent.protocols or offered if protocol in offered]
    usual = protocol_of(provider.listed_as, model) if provider.listed_as else None
    if not shared:
        raise UserError(
            f"{agent.name} speaks {_listed(agent.protocols)}, but {name} offers {model} only by {_listed(offered)}."
        )
    return Endpoint(provider, usual if usual in shared else shared[0])


def needs_gateway(agent: Agent) -> bool:
    """Whether an agent's file says that it speaks to models through orvl."""
    return bool(agent.protocols) or "endpoint" in _asks(agent)


def continues(agent: Agent) -> bool:
    """Whether an agent can go on with a conversation: its command asks which session, or which turn, it is."""
    return agent.speaks_acp or bool(agent.control) or bool(_asks(agent) & {"session", "turn"})


def _asks(agent: Agent) -> set[str]:
    command = agent.command
    assert isinstance(command, UserFunction)
    return {*command.wants, *command.by_place}


def without_key(hosts: Iterable[Endpoint], environment: Mapping[str, str]) -> dict[str, str]:
    """Providers whose key is needed and not set, each with a sentence that says which variable to set."""
    providers = {host.provider.name: host.provider for host in hosts}
    found = {name: missing_key(provider, environment) for name, provider in providers.items()}
    return {name: sentence for name, sentence in found.items() if sentence}


def check_judges(settings: Settings, judges: Iterable[Judge], environment: Mapping[str, str]) -> None:
    """Refuses judges that cannot be asked, before anything is spent on runs for them."""
    for judge in {judge.name: judge for judge in judges}.values():
        if judge.is_local:
            from orvl.local_model import weights_of

            weights_of(judge.model)
        elif judge.provider != "none" and (sentence := missing_key(reach(settings, judge)[0], environment)):
            raise UserError(f"The judge {judge.name}: {sentence} Or leave it out: name the others with --judge.")


def unreachable(settings: Settings, judges: Iterable[Judge], environment: Mapping[str, str]) -> list[str]:
    """Why judges cannot be asked, a sentence each."""
    sentences = []
    for judge in judges:
        try:
            check_judges(settings, [judge], environment)
        except UserError as error:
            sentences.append(str(error))
    return sentences


def without_price(
    settings: Settings, cells: Iterable[Cell], endpoints: Mapping[str, Endpoint], judges: Iterable[Judge]
) -> dict[str, str]:
    """The models that cells and judges call and whose price nobody knows, each with its provider's name."""
    called: list[tuple[Provider, str, str]] = []
    for cell in cells:
        # Agents that call a model past the gateway say themselves what they cost.
        if cell.key in endpoints:
            called.append((endpoints[cell.key].provider, cell.provider, cell.model_id))
    for judge in judges:
        if judge.provider != "none" and not judge.is_local:
            called.append((reach(settings, judge)[0], judge.provider, judge.model))
    return {f"{model} at {name}": name for provider, name, model in called if provider.price(model) is None}


def check_prices(unpriced: Mapping[str, str]) -> None:
    """Refuses a budget for models that it cannot count, before anything is spent."""
    if unpriced:
        table = f"[providers.{next(iter(unpriced.values()))}]"
        raise UserError(
            f"--budget cannot count {_listed(unpriced)}: no price is known. Add `prices` (or `free = true`) to {table} "
            "in orvl.toml, or pass --allow-unpriced to leave such calls out of the budget."
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
