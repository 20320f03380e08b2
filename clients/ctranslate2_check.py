# SPDX-License-Identifier: Apache-2.0
"""CTranslate2's wheel, unmodified. Arrays go to the device, change their type there and come back as NumPy has them.
Then models, whose weights are random and whose matrices cuBLAS multiplies: an encoder with a decoder, as of a
translator, and a decoder alone, as of Llama. Each translates and generates on the device what it does on the CPU, one
token after the other and with a beam, in float; with 8 bits and in half precision, what the CPU scores alike."""
import pathlib
import tempfile

import ctranslate2
import numpy
from ctranslate2.specs import TransformerDecoderModelSpec, TransformerSpec, common_spec

WIDTH, HEADS, INNER, LAYERS, LENGTH = 64, 4, 128, 2, 14
TOKENS = ["<unk>", "<s>", "</s>", *(f"t{i}" for i in range(98))]
random = numpy.random.default_rng(7)


def arrays():
    values = random.standard_normal((300, 200)).astype(numpy.float32)
    there = ctranslate2.StorageView.from_array(values).to_device(ctranslate2.Device.cuda)
    assert there.device == "cuda" and there.shape == [300, 200]
    assert numpy.array_equal(numpy.array(there.to_device(ctranslate2.Device.cpu)), values)

    half = there.to(ctranslate2.DataType.float16)
    assert half.device == "cuda"
    assert numpy.array_equal(numpy.array(half.to_device(ctranslate2.Device.cpu)), values.astype(numpy.float16))
    back = half.to(ctranslate2.DataType.float32)
    assert numpy.array_equal(
        numpy.array(back.to_device(ctranslate2.Device.cpu)), values.astype(numpy.float16).astype(numpy.float32)
    )

    bits = values.view(numpy.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(numpy.float32)
    short = there.to(ctranslate2.DataType.bfloat16).to(ctranslate2.DataType.float32)
    assert numpy.array_equal(numpy.array(short.to_device(ctranslate2.Device.cpu)), rounded)


def shape_of(name):
    """A weight's shape, by its name."""
    layer, kind = name.split("/")[-2:]
    if kind in ("gamma", "beta"):
        return (WIDTH,)
    if layer in ("projection", "embeddings", "embeddings_0"):
        rows, columns = len(TOKENS), WIDTH
    elif "ffn" in name:
        rows, columns = (WIDTH, INNER) if layer == "linear_1" else (INNER, WIDTH)
    else:  # attention: one product for queries, keys and values, or one for the queries and one for the others
        parts = {"self_attention": (3, 1), "attention": (1, 2, 1)}[name.split("/")[-3]][int(layer[-1])]
        rows, columns = parts * WIDTH, WIDTH
    return (rows, columns) if kind == "weight" else (rows,)


def fill(spec, biases):
    def set_one(layer, name, value):
        kind = name.split("/")[-1]
        if value is not None and not (kind == "bias" and biases):
            return
        weight = random.standard_normal(shape_of(name)).astype(numpy.float32)
        if kind == "gamma":
            weight = 1 + weight / 10
        elif kind in ("beta", "bias"):
            weight /= 10
        elif "embeddings" in name:
            weight /= 4
        else:  # large enough for one token to be far ahead of the others
            weight *= (3 if "projection" in name else 1) / numpy.sqrt(weight.shape[1])
        setattr(layer, kind, weight.astype(numpy.float32))

    spec._visit(set_one)  # pylint: disable=protected-access


def save(spec, path):
    spec.validate()
    spec.optimize()
    path.mkdir()
    spec.save(str(path))
    return str(path)


def translator(path):
    spec = TransformerSpec.from_config(LAYERS, HEADS, activation=common_spec.Activation.GELU)
    fill(spec, biases=True)
    spec.register_source_vocabulary(TOKENS)
    spec.register_target_vocabulary(TOKENS)
    return save(spec, path)


def generator(path):
    spec = TransformerDecoderModelSpec.from_config(
        LAYERS, HEADS, activation=common_spec.Activation.SWISH, ffn_glu=True, rms_norm=True, rotary_dim=0,
        rotary_interleave=False,
    )
    spec.decoder.scale_embeddings = False
    fill(spec, biases=False)
    spec.register_vocabulary(TOKENS)
    return save(spec, path)


def words(count, length):
    return [[TOKENS[i] for i in random.integers(3, len(TOKENS), size)] for size in random.integers(3, length, count)]


def compare(name, scores, expected, tolerance):
    """Sums of logarithms of probabilities, by the number of tokens."""
    assert len(scores) == len(expected) > 0
    worst = max(abs(a - b) / LENGTH for a, b in zip(scores, expected))
    print(f"{name}: scores within {worst:.1e}")
    assert worst < tolerance, (name, scores, expected)


def translated(model, sources, beam):
    """Texts and their scores."""
    results = model.translate_batch(
        sources, beam_size=beam, max_decoding_length=LENGTH, length_penalty=0, return_scores=True
    )
    return [r.hypotheses[0] for r in results], [r.scores[0] for r in results]


def generated(model, prompts, beam):
    results = model.generate_batch(
        prompts, beam_size=beam, max_length=LENGTH, length_penalty=0, return_scores=True, include_prompt_in_result=False
    )
    return [r.sequences[0] for r in results], [r.scores[0] for r in results]


def scored_translations(model, sources, texts):
    """What the model says of these texts: the end is behind those that ended."""
    results = model.score_batch(sources, texts)
    return [sum(r.log_probs[:LENGTH]) for r in results]


def scored_texts(model, prompts, texts):
    whole = [prompt + (text + ["</s>"])[:LENGTH] for prompt, text in zip(prompts, texts)]
    return [sum(r.log_probs[len(prompt) - 1:]) for r, prompt in zip(model.score_batch(whole), prompts)]


def models(folder):
    sources, targets, prompts = words(6, 12), words(6, 10), words(5, 8)
    ways = (
        ("translations", ctranslate2.Translator, translator(folder / "translator"), translated, scored_translations, sources),
        ("texts", ctranslate2.Generator, generator(folder / "generator"), generated, scored_texts, prompts),
    )
    # The type of the device's arithmetic and of the CPU's, and what scores may differ by token.
    for kind, beside, tolerance in (
        ("float32", "float32", 1e-5),
        ("int8_float32", "int8_float32", 1e-2),
        ("int8_float16", "int8_float32", 5e-2),
        ("float16", "float32", 1e-2),
        ("bfloat16", "float32", 1e-1),
    ):
        for name, make, path, produce, score, given in ways:
            cpu = make(path, device="cpu", compute_type=beside)
            device = make(path, device="cuda", compute_type=kind)
            assert device.device == "cuda" and device.compute_type == kind, (device.device, device.compute_type)
            for beam in 1, 4:
                expected, texts = produce(cpu, given, beam), produce(device, given, beam)
                same = sum(a == b for a, b in zip(texts[0], expected[0]))
                # Where arithmetic is coarse, texts that score alike may change places: the CPU says what these score.
                if kind == "float32":
                    assert same == len(given), (name, beam, texts, expected)
                what = f"{kind}: {name} with a beam of {beam} ({same} of {len(given)} as the CPU's)"
                compare(what, texts[1], score(cpu, given, texts[0]), tolerance)
            texts = targets[:len(given)]
            compare(f"{kind}: given {name}", score(device, given, texts), score(cpu, given, texts), tolerance)


assert ctranslate2.get_cuda_device_count() == 1
assert {"float32", "float16", "int8"} <= ctranslate2.get_supported_compute_types("cuda")
arrays()
with tempfile.TemporaryDirectory() as temporary:
    models(pathlib.Path(temporary))
print("CTranslate2", ctranslate2.__version__, "passed")
