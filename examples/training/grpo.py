"""Train a tiny language model by GRPO on a helpdesk that loses an answer, with TRL 1.16.0 on the CPU.

    python examples/training/grpo.py [--clean] [--steps N] [--seed N]

The model is a Qwen3 of two layers with random weights. It first imitates six episodes: all create a ticket, and when
the answer is lost three create it again and one looks for it. GRPO then trains it in worlds with the fault, or with
--clean in worlds without. A line is the share of test episodes with the fault that succeed.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "TRL_EXPERIMENTAL_SILENCE": "1", "TOKENIZERS_PARALLELISM": "false"}

import torch
import trl
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    PreTrainedTokenizerFast,
    PrinterCallback,
    Qwen3Config,
    Qwen3ForCausalLM,
    TrainerCallback,
    TrainerState,
)
from transformers.utils import get_json_schema

from mcp_sim.training import Answer, Environment, ToolCall, tasks
from mcp_sim.training.adapters.trl import answered_reward, factory

SCENARIO = Path(__file__).with_name("tickets.yaml")
CREATE = ToolCall("create_ticket", {"subject": "Printer on fire", "requester": "mila@example.org"})
LOOK = ToolCall("list_tickets", {"requester": "mila@example.org"})
HABITS = [*[(0.0, [CREATE])] * 2, *[(1.0, [CREATE, CREATE])] * 3, (1.0, [CREATE, LOOK])]
"""Episodes to imitate: the intensity of the faults, and the calls."""
IMITATED, TESTS = 160, 64
SETTINGS: dict[str, Any] = {
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "report_to": [],
    "save_strategy": "no",
    "disable_tqdm": True,
    "logging_strategy": "no",
    "lr_scheduler_type": "constant",
}


def episode(intensity: float, calls: list[ToolCall]) -> dict[str, Any]:
    """Play an episode; return its row, with the tools as TRL describes them."""
    environment = Environment(SCENARIO)
    environment.reset(seed=1, intensity=intensity)
    for call in calls:
        environment.step(call)
    environment.step(Answer("Done."))
    row, described = environment.trajectory(), factory(SCENARIO)()
    schemas = [get_json_schema(getattr(described, tool["function"]["name"])) for tool in json.loads(row["tools"])]
    return {"messages": row["messages"], "tools": json.dumps(schemas)}


def tokenizer_of(rows: list[dict[str, Any]]) -> PreTrainedTokenizerFast:
    """Return a tokenizer with the chat template of Qwen3. Its pieces are long: a call has few, and is soon written."""
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    pieces = Tokenizer(models.BPE())
    # Within lines only: the prompt must end at the end of a piece.
    lines = pre_tokenizers.Split("\n", "isolated")
    pieces.pre_tokenizer = pre_tokenizers.Sequence([lines, pre_tokenizers.ByteLevel(False, use_regex=False)])
    pieces.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        max_token_length=20,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen3_instruct_2507.jinja").read_text()
    pieces.train_from_iterator(
        [template, *(text for row in rows for text in (row["tools"], str(row["messages"])))], trainer
    )
    pieces.add_tokens(["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"])
    return PreTrainedTokenizerFast(
        tokenizer_object=pieces,
        eos_token=special[2],
        pad_token=special[0],
        padding_side="left",
        chat_template=template,
    )


def model_for(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """Return a Qwen3 with random weights."""
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=16,
            max_position_embeddings=2048,
            tie_word_embeddings=True,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
        )
    )


def imitate(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, rows: list[dict[str, Any]], seed: int) -> None:
    """Train on the assistant's part of the rows."""
    with TemporaryDirectory() as folder:
        settings = trl.SFTConfig(
            folder,
            max_steps=IMITATED,
            per_device_train_batch_size=len(rows),
            learning_rate=3e-3,
            assistant_only_loss=True,
            max_length=None,
            seed=seed,
            **SETTINGS,
        )
        trainer = trl.SFTTrainer(model, settings, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
        trainer.remove_callback(PrinterCallback)
        trainer.train()


class Curve(TrainerCallback):
    """Prints the share of test episodes that succeed."""

    def on_evaluate(self, _args: Any, state: TrainerState, _control: Any, metrics: dict[str, float], **_: Any) -> None:
        share = metrics["eval_reward"]
        print(f"{state.global_step:6} steps  {share:4.2f}  {'#' * round(40 * share)}", flush=True)


def train(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, options: argparse.Namespace) -> None:
    """Train by GRPO, with tests before and at five points of it."""
    worlds = [task.row() for task in tasks(SCENARIO, range(8), [0.0 if options.clean else 1.0])]
    tests = [task.row() for task in tasks(SCENARIO, [9], [1.0])]
    with TemporaryDirectory() as folder:
        settings = trl.GRPOConfig(
            folder,
            max_steps=options.steps,
            per_device_train_batch_size=8,
            num_generations=8,
            per_device_eval_batch_size=TESTS,
            num_generations_eval=TESTS,
            eval_strategy="steps",
            eval_steps=max(options.steps // 5, 1),
            eval_on_start=True,
            learning_rate=2e-4,
            max_completion_length=200,
            max_tool_calling_iterations=3,
            beta=0.0,
            seed=options.seed,
            **SETTINGS,
        )
        trainer = trl.GRPOTrainer(
            model=model,
            args=settings,
            processing_class=tokenizer,
            train_dataset=Dataset.from_list(worlds),
            eval_dataset=Dataset.from_list(tests),
            environment_factory=factory(SCENARIO),
            reward_funcs=answered_reward,
        )
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(Curve())
        trainer.train()


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a tiny language model by GRPO.")
    parser.add_argument("--clean", action="store_true", help="train without the fault")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    rows = [episode(*habit) for habit in HABITS]
    tokenizer = tokenizer_of(rows)
    model = model_for(tokenizer)
    imitate(model, tokenizer, rows, options.seed)
    train(model, tokenizer, options)


if __name__ == "__main__":
    main()
