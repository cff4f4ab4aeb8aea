"""Make a model of 400,000 random weights that a real engine can serve: the worst possible world model.

    ENGINE_PYTHON .ci/tiny_model.py FOLDER      with the interpreter of an engine, which has torch and transformers

Its tokenizer is trained on the tool specs and scenarios of this project, so that tokens end where those of a model
trained on JSON end. Its chat template supports `enable_thinking`, and opens the reasoning itself unless that is false.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)
from transformers import (
    GenerationConfig,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
)

ROOT = Path(__file__).parents[1]
VOCABULARY = 4096
LONGEST = 65_536
END, TURN, PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
MARKS = ("<think>", "</think>")
TEMPLATE = (
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' ~ message.role ~ '\\n' ~ message.content ~ '<|im_end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}"
    "{{ '<|im_start|>assistant\\n<think>\\n' }}"
    "{%- if enable_thinking is defined and not enable_thinking -%}{{ '\\n</think>\\n\\n' }}{%- endif -%}"
    "{%- endif -%}"
)


def corpus() -> Iterator[str]:
    """Yield the project's own JSON, YAML and prose."""
    for folder, ending in (
        ("tool_specs", "*/*.json"),
        ("tool_specs", "*/*.yaml"),
        ("scenarios", "*.yaml"),
        ("docs", "*.md"),
    ):
        for path in sorted((ROOT / folder).glob(ending)):
            yield path.read_text(encoding="utf-8")


def tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level BPE tokenizer."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(MARKS),
        special_tokens=[PAD, TURN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bare.train_from_iterator(corpus(), trainer)
    bare.add_tokens([AddedToken(mark, normalized=False, special=False) for mark in MARKS])
    special: dict[str, Any] = {"eos_token": END, "pad_token": PAD, "additional_special_tokens": [TURN]}
    fast_tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, model_max_length=LONGEST, **special)
    fast_tokenizer.chat_template = TEMPLATE
    return fast_tokenizer


def main(folder: Path) -> None:
    tokens = tokenizer()
    tokens.save_pretrained(folder)
    torch.manual_seed(0)
    shape = Qwen3Config(
        vocab_size=len(tokens),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=LONGEST,
        tie_word_embeddings=True,
        initializer_range=0.5,  # far above the usual 0.02: spreads the output over the vocabulary
        eos_token_id=tokens.eos_token_id,
        pad_token_id=tokens.pad_token_id,
        bos_token_id=None,
        dtype="float32",
    )
    model = Qwen3ForCausalLM(shape).to(torch.float32)
    with torch.no_grad():  # never emit the marks by chance: an engine may fail if reasoning ends near its budget
        for mark in MARKS:
            model.get_input_embeddings().weight[tokens.convert_tokens_to_ids(mark)] = 0
    model.save_pretrained(folder)
    GenerationConfig(eos_token_id=tokens.eos_token_id, pad_token_id=tokens.pad_token_id).save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
