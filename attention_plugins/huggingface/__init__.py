"""Models of the Hugging Face library: encoder–decoders, decoders and encoders, beside our own.

A folder as the Hub has it (``config.json``, safetensors, a tokenizer) is a checkpoint. Needs the
extra ``transformers``, which is imported where a model is loaded and nowhere else.
"""
