"""An agent loop of verl 0.9.1 (`pip install verl==0.9.1 cachetools fastapi uvicorn`), with an episode for each rollout.

    python examples/training/with_verl.py      play an episode with a scripted model

`actor_rollout_ref.rollout.agent.agent_loop_config_path` names a file with `name: mcp_sim` and this class as `_target_`.
A row of the data set has the task as its prompt, `agent_name: mcp_sim`, and in `extra_info` the scenario and the
parameters of `Environment.reset`.
"""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

from omegaconf import OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl.experimental.agent_loop.agent_loop import AgentLoopOutput, DictConfigWrap, register
from verl.experimental.agent_loop.tool_agent_loop import ToolAgentLoop
from verl.tools.schemas import ToolResponse
from verl.workers.rollout.replica import TokenOutput

from mcp_sim.training import Answer, Environment, ToolCall, tasks


@register("mcp_sim")
class McpSimLoop(ToolAgentLoop):
    """verl makes a loop for each rollout: it keeps the episode, which verl's tools, made anew for each call, cannot."""

    async def run(self, sampling_params: dict[str, Any], priority: int = 0, **row: Any) -> AgentLoopOutput:
        self.episode = Environment(row["extra_info"]["scenario"])
        self.episode.reset(**row["extra_info"]["start"])
        self.tool_schemas = self.episode.tools()
        output = await super().run(sampling_params, priority, **row)
        if not self.episode.done:
            self.episode.step(Answer(self.answer))
        output.reward_score = self.episode.reward() or 0.0  # else the answer would be scored once more
        return output

    def _build_assistant_message(self, content: str, agent_data: Any) -> dict[str, Any]:
        self.answer = content or ""
        return super()._build_assistant_message(content, agent_data)

    async def _call_tool(self, tool_call: Any, tools_kwargs: Any, agent_data: Any) -> tuple[ToolResponse, float, dict]:
        if self.episode.done:
            return ToolResponse(text="The episode is over."), 0.0, {}
        result = await self.episode.astep(ToolCall(tool_call.name, tool_call.arguments))
        return ToolResponse(text=result.messages[0].text), 0.0, {}


def tokenizer() -> Any:
    """Return a tokenizer of single bytes, with a chat template like that of Qwen."""
    ends = ("<|im_start|>", "<|im_end|>")
    vocabulary = {sign: at for at, sign in enumerate([*ends, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    signs = Tokenizer(models.BPE(vocabulary, []))
    signs.pre_tokenizer, signs.decoder = pre_tokenizers.ByteLevel(False, use_regex=False), decoders.ByteLevel()
    signs.add_special_tokens([*ends])
    template = (
        "{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}{% for message in messages %}"
        "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    return PreTrainedTokenizerFast(tokenizer_object=signs, eos_token=ends[1], pad_token=ends[0], chat_template=template)


class Script:
    """A model that creates the deal, and gives up."""

    def __init__(self, signs: Any) -> None:
        create = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
        call = json.dumps({"name": "create_deal", "arguments": create})
        self._turns = iter([f"<tool_call>{call}</tool_call>", "I could not do it."])
        self._signs, self.prompts = signs, list[str]()

    async def generate(self, prompt_ids: list[int], **_: Any) -> Any:
        self.prompts.append(self._signs.decode(prompt_ids))
        return TokenOutput(token_ids=self._signs.encode(next(self._turns) + "<|im_end|>"))


async def main() -> None:
    turns = {"max_user_turns": 9, "max_assistant_turns": 9, "max_parallel_calls": 1, "format": "hermes"}
    cuts = {"max_tool_response_length": 9000, "tool_response_truncate_side": "left"}
    lengths = {"prompt_length": 100_000, "response_length": 10_000, "full_determinism": False}
    config = OmegaConf.create(
        {"actor_rollout_ref": {"rollout": {**lengths, "multi_turn": {**turns, **cuts}}}, "data": {}}
    )
    signs = tokenizer()
    script = Script(signs)
    loop = McpSimLoop(
        trainer_config=DictConfigWrap(config),
        server_manager=script,
        tokenizer=signs,
        processor=None,
        dataset_cls=SimpleNamespace,
        data_config=DictConfigWrap(config.data),
    )
    [task] = tasks("flaky_crm", [7])
    row = {"raw_prompt": task.row()["prompt"], "extra_info": {"scenario": "flaky_crm", "start": task.start}}
    output = await loop.run({}, **row)
    assert "create_deal" in script.prompts[0]
    assert "504" in script.prompts[1]
    assert sum(output.response_mask) < len(output.response_ids), "what the tool answered is not trained"
    print("verl: an episode of an agent loop, reward", output.reward_score)


if __name__ == "__main__":
    asyncio.run(main())
