"""A model's answer as a step of a trajectory, for agents whose own output does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.gateway.wire.values import as_object

if TYPE_CHECKING:
    from orvl.gateway.wire.format import ModelAnswer
    from orvl.types import ModelCall


def step_of(answer: ModelAnswer, call: ModelCall) -> dict[str, Any]:
    """The step in ATIF's form, without its number."""
    step: dict[str, Any] = {"source": "agent", "message": answer.text}
    if call.served_model:
        step["model_name"] = call.served_model
    if answer.reasoning:
        step["reasoning_content"] = answer.reasoning
    if answer.tools:
        step["tool_calls"] = [
            {
                "tool_call_id": tool.id or f"call_{call.number}_{place}",
                "function_name": tool.name,
                "arguments": as_object(tool.arguments or "{}") or {"text": tool.arguments},
            }
            for place, tool in enumerate(answer.tools, 1)
        ]
    figures = {
        "prompt_tokens": call.input_tokens,
        "completion_tokens": call.output_tokens,
        "cached_tokens": call.cached_tokens,
        "cost_usd": call.cost_usd,
    }
    known = {name: value for name, value in figures.items() if value is not None}
    return {**step, "metrics": known} if known else step
