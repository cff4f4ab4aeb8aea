"""TRL 1.16.0: what remains of the schemas of the shipped tools, and two steps of GRPO with a tiny model."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import trl
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema

from mcp_sim.spec.sources import shipped
from mcp_sim.training import Answer, Environment, ToolCall, tasks
from mcp_sim.training.adapters.trl import answered_reward, environment_class, factory

LEAST_KEPT = 0.9


def is_kept(name: str, tool: dict, method: object) -> bool:
    """Whether TRL shows the types, enums, items and required arguments of a tool."""
    shown, listed = get_json_schema(method)["function"]["parameters"], tool["parameters"]
    if set(shown.get("required", ())) != set(listed.get("required", ())):
        return False
    return all(
        core(shown["properties"][argument]) == core(schema) for argument, schema in listed.get("properties", {}).items()
    )


def core(schema: dict) -> tuple:
    """Return the type, enum and type of items; a type that may also be null counts as that type."""
    variants = [variant for variant in schema.get("anyOf", schema.get("oneOf", ())) if variant.get("type") != "null"]
    if len(variants) == 1:
        schema = variants[0]
    kind = schema.get("type")
    kinds = sorted(set(kind) - {"null"}) if isinstance(kind, list) else [kind]
    return kinds, schema.get("enum"), (schema.get("items") or {}).get("type")


def count_schemas() -> None:
    kept = total = 0
    for name in sorted(shipped("scenarios")):
        if not name.startswith("calm_"):
            continue
        environment = environment_class(name)()
        for tool in Environment(name).tools():
            function = tool["function"]
            kept += is_kept(name, function, getattr(environment, function["name"].replace("-", "_")))
            total += 1
    print(f"TRL: {kept} of {total} tools keep types, enums, items and required arguments")
    assert kept >= LEAST_KEPT * total


def play() -> None:
    """The factory can be pickled, and its environments are played as TRL does."""
    environment = pickle.loads(pickle.dumps(factory("flaky_crm")))()
    assert environment.reset(seed=1, prompt="a column of the data set").startswith("Create the deal")
    create = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
    assert "504" in environment.create_deal(**create)
    assert "Spring order" in environment.list_deals(contact_id="con_00001", limit=None)
    assert 0 < environment.get_reward() < 1


def tokenizer_of(texts: list[str]) -> PreTrainedTokenizerFast:
    """Return a small tokenizer with the chat template of Qwen3."""
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen3_instruct_2507.jinja").read_text()
    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer, pieces.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    pieces.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=600, special_tokens=special, initial_alphabet=alphabet)
    )
    pieces.add_tokens(["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
    )
    tokenizer.chat_template = template
    return tokenizer


def chat() -> dict:
    """Return a row of an episode, which loads as a data set and renders through the template."""
    environment = Environment("calm_crm")
    environment.reset(seed=1)
    environment.step(ToolCall("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}))
    environment.step(Answer("Done."))
    return environment.trajectory()


def two_steps_of_grpo() -> None:
    row = chat()
    [loaded] = Dataset.from_list([row])
    tokenizer = tokenizer_of([row["tools"], *(str(message) for message in row["messages"])])
    rendered = tokenizer.apply_chat_template(loaded["messages"], tools=json.loads(loaded["tools"]), tokenize=False)
    assert "Spring order" in rendered
    assert "<tool_call>" in rendered
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "head_dim": 16,
    }
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            num_key_value_heads=1,
            max_position_embeddings=16_384,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            **sizes,
        )
    )
    rows = [task.row() for task in tasks("flaky_crm", range(4))]
    with TemporaryDirectory() as folder:
        settings = trl.GRPOConfig(
            folder,
            max_steps=2,
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=24,
            max_tool_calling_iterations=1,
            logging_steps=1,
            report_to=[],
            save_strategy="no",
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            disable_tqdm=True,
        )
        trainer = trl.GRPOTrainer(
            model=model,
            args=settings,
            processing_class=tokenizer,
            train_dataset=Dataset.from_list(rows),
            environment_factory=factory("flaky_crm"),
            reward_funcs=answered_reward,
        )
        trainer.train()
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    assert len(rewards) == 2, trainer.state.log_history
    print(f"TRL: two steps of GRPO, rewards {rewards}")


play()
count_schemas()
two_steps_of_grpo()
