# SPDX-License-Identifier: Apache-2.0
"""Networks of Hugging Face's transformers from small configurations: text, images, sound."""
import torch
import transformers
from torch import nn

from zoo import model

VOCABULARY = 50
TEXT = dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
            max_position_embeddings=32)
DECODER = dict(TEXT, num_key_value_heads=1, head_dim=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, use_cache=False)
IMAGE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48, image_size=32, patch_size=8)


class First(nn.Module):
    """The first tensor of a network's output, with its inputs by name."""

    def __init__(self, network, names, **fixed):
        super().__init__()
        self.network, self.names, self.fixed = network, names, fixed

    def forward(self, *inputs):
        y = self.network(**dict(zip(self.names, inputs)), **self.fixed)
        return (y.to_tuple() if hasattr(y, "to_tuple") else y)[0]


def tokens(batch, length=8):
    return torch.randint(3, VOCABULARY, (batch, length))


def network_of(kind, settings):
    config = getattr(transformers, kind + "Config")(**settings)
    config._attn_implementation = config._experts_implementation = "eager"
    return config


def add(name, kind, head, settings, names, inputs, fixed={}, **options):
    @model("transformers/" + name, **options)
    def build():
        network = getattr(transformers, head)._from_config(network_of(kind, settings))
        return First(network, names, **fixed), inputs


def ids(batch):
    return (tokens(batch),)


def ids_and_mask(batch):
    x = tokens(batch)
    mask = torch.ones_like(x)
    mask[:, -2:] = torch.arange(batch)[:, None] % 2
    return x, mask


def pixels(size=32):
    return lambda batch: (torch.randn(batch, 3, size, size),)


def text(name, kind, head, masked=True, **changes):
    add(name, kind, head, dict(TEXT, **changes), ["input_ids", "attention_mask"][:1 + masked], ids_and_mask if masked else ids)


def decoder(name, kind, **changes):
    settings = {k: v for k, v in dict(DECODER, **changes).items() if v is not None}
    add(name, kind, kind + "ForCausalLM", settings, ["input_ids"], ids, {"use_cache": False})


def picture(name, kind, head, size=32, **changes):
    settings = {k: v for k, v in dict(IMAGE, num_labels=10, **changes).items() if v is not None}
    add(name, kind, head, settings, ["pixel_values"], pixels(size))


def stages(name, kind, head, size=64, **settings):
    add(name, kind, head, dict(settings, num_labels=10), ["pixel_values"], pixels(size))


text("bert", "Bert", "BertModel")
text("bert-classifier", "Bert", "BertForSequenceClassification", num_labels=10)
text("bert-masked-lm", "Bert", "BertForMaskedLM", masked=False)
text("albert", "Albert", "AlbertModel", embedding_size=16)
text("roberta", "Roberta", "RobertaModel", pad_token_id=1)
text("electra", "Electra", "ElectraModel", embedding_size=16)
text("mpnet", "MPNet", "MPNetModel")
text("deberta", "Deberta", "DebertaModel", relative_attention=True, max_relative_positions=8, pos_att_type=["c2p", "p2c"])
text("deberta-v2", "DebertaV2", "DebertaV2Model", relative_attention=True, position_buckets=4, pos_att_type=["c2p", "p2c"])
text("convbert", "ConvBert", "ConvBertModel", embedding_size=16, conv_kernel_size=3)
text("fnet", "FNet", "FNetModel", masked=False)
text("squeezebert", "SqueezeBert", "SqueezeBertModel", embedding_size=32, q_groups=2, k_groups=2, v_groups=2)
text("mobilebert", "MobileBert", "MobileBertModel", embedding_size=16, true_hidden_size=16, intra_bottleneck_size=16,
     num_feedforward_networks=2)
text("modernbert", "ModernBert", "ModernBertModel", masked=False, pad_token_id=0, local_attention=4)
add("distilbert", "DistilBert", "DistilBertModel", dict(vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=2, hidden_dim=48,
    max_position_embeddings=32), ["input_ids", "attention_mask"], ids_and_mask)
add("funnel", "Funnel", "FunnelBaseModel", dict(vocab_size=VOCABULARY, block_sizes=[1, 1], d_model=32, n_head=2, d_head=16,
    d_inner=48), ["input_ids"], ids)
add("xlnet", "XLNet", "XLNetModel", dict(vocab_size=VOCABULARY, d_model=32, n_layer=2, n_head=2, d_inner=48), ["input_ids"], ids,
    {"use_mems": False})
add("gpt2", "GPT2", "GPT2LMHeadModel", dict(vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=2, n_positions=32, use_cache=False),
    ["input_ids"], ids, {"use_cache": False})
add("gpt-neo", "GPTNeo", "GPTNeoForCausalLM", dict(vocab_size=VOCABULARY, hidden_size=32, num_layers=2, num_heads=2, window_size=4,
    attention_types=[[["global", "local"], 1]], max_position_embeddings=32), ["input_ids"], ids, {"use_cache": False})
add("opt", "OPT", "OPTForCausalLM", dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, ffn_dim=48,
    max_position_embeddings=32, word_embed_proj_dim=32), ["input_ids"], ids, {"use_cache": False})
add("bloom", "Bloom", "BloomForCausalLM", dict(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=2), ["input_ids"], ids,
    {"use_cache": False})
decoder("gpt-neox", "GPTNeoX", num_key_value_heads=None, head_dim=None)
decoder("llama", "Llama")
decoder("mistral", "Mistral", sliding_window=4)
decoder("qwen2", "Qwen2")
decoder("qwen3", "Qwen3")
decoder("gemma", "Gemma", head_dim=16)
decoder("gemma2", "Gemma2", head_dim=16, sliding_window=4)
decoder("phi3", "Phi3", head_dim=None)
decoder("stablelm", "StableLm", head_dim=None)
decoder("olmo2", "Olmo2", head_dim=None)
decoder("falcon", "Falcon", num_key_value_heads=None, head_dim=None, new_decoder_architecture=False, multi_query=True)
decoder("mixtral", "Mixtral", num_local_experts=4, num_experts_per_tok=2)
decoder("mamba", "Mamba", num_attention_heads=None, num_key_value_heads=None, head_dim=None, state_size=4, time_step_rank=4)
decoder("rwkv", "Rwkv", num_attention_heads=None, num_key_value_heads=None, head_dim=None, attention_hidden_size=32)

T5 = dict(vocab_size=VOCABULARY, d_model=32, d_kv=16, d_ff=48, num_layers=2, num_heads=2, relative_attention_num_buckets=8,
          relative_attention_max_distance=8)
BART = dict(vocab_size=VOCABULARY, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=32)


def pair(batch):
    return tokens(batch), tokens(batch, 5)


add("t5-encoder", "T5", "T5EncoderModel", T5, ["input_ids"], ids)
add("t5", "T5", "T5Model", T5, ["input_ids", "decoder_input_ids"], pair, {"use_cache": False})
add("bart", "Bart", "BartModel", BART, ["input_ids", "decoder_input_ids"], pair, {"use_cache": False})
add("marian", "Marian", "MarianModel", dict(BART, pad_token_id=0), ["input_ids", "decoder_input_ids"], pair, {"use_cache": False})
add("pegasus", "Pegasus", "PegasusModel", BART, ["input_ids", "decoder_input_ids"], pair, {"use_cache": False})

picture("vit", "ViT", "ViTForImageClassification")
picture("deit", "DeiT", "DeiTForImageClassification")
picture("dinov2", "Dinov2", "Dinov2Model", intermediate_size=None, mlp_ratio=2)
picture("dinov3", "DINOv3ViT", "DINOv3ViTModel")
picture("yolos", "Yolos", "YolosForObjectDetection", image_size=[32, 32], num_detection_tokens=5)
picture("clip-vision", "CLIPVision", "CLIPVisionModel")
picture("siglip-vision", "SiglipVision", "SiglipVisionModel")
picture("beit", "Beit", "BeitForImageClassification", use_relative_position_bias=True)
picture("data2vec-vision", "Data2VecVision", "Data2VecVisionModel", use_relative_position_bias=True)
picture("mobilevit", "MobileViT", "MobileViTForImageClassification", 64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 32, 64],
        hidden_size=None, intermediate_size=None, num_hidden_layers=None, patch_size=2, image_size=64, num_attention_heads=2)
add("clip-text", "CLIPText", "CLIPTextModel", dict(TEXT, projection_dim=16, eos_token_id=2), ["input_ids"], ids)
stages("convnext-v2", "ConvNextV2", "ConvNextV2ForImageClassification", hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1])
stages("resnet", "ResNet", "ResNetForImageClassification", embedding_size=16, hidden_sizes=[16, 32, 32, 48], depths=[1, 1, 1, 1])
stages("regnet", "RegNet", "RegNetForImageClassification", embedding_size=16, hidden_sizes=[16, 32, 32, 48], depths=[1, 1, 1, 1],
       groups_width=8)
stages("bit", "Bit", "BitForImageClassification", embedding_size=16, hidden_sizes=[32, 32, 64, 64], depths=[1, 1, 1, 1], num_groups=4)
stages("segformer", "Segformer", "SegformerForSemanticSegmentation", hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1],
       num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16)
stages("poolformer", "PoolFormer", "PoolFormerForImageClassification", hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1])
stages("pvt", "Pvt", "PvtForImageClassification", hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2],
       image_size=64)
stages("cvt", "Cvt", "CvtForImageClassification", embed_dim=[16, 32, 32], depth=[1, 2, 3], num_heads=[1, 2, 2])
stages("focalnet", "FocalNet", "FocalNetForImageClassification", embed_dim=16, depths=[1, 1], hidden_sizes=[16, 32], focal_levels=[2, 2],
       focal_windows=[3, 3], image_size=64)
stages("swin", "Swin", "SwinForImageClassification", embed_dim=16, depths=[2, 2], num_heads=[2, 2], window_size=4, image_size=64)
stages("swin2-sr", "Swin2SR", "Swin2SRForImageSuperResolution", 16, embed_dim=16, depths=[2], num_heads=[2], window_size=4, image_size=16,
       mlp_ratio=2.0, upscale=2)
stages("glpn", "GLPN", "GLPNForDepthEstimation", hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2],
       decoder_hidden_size=16)
stages("dpt", "DPT", "DPTForDepthEstimation", hidden_size=32, num_hidden_layers=4, num_attention_heads=2, intermediate_size=48, image_size=64,
       patch_size=16, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 16, 16, 16], fusion_hidden_size=16)
stages("levit", "Levit", "LevitForImageClassification", hidden_sizes=[16, 24, 32], num_attention_heads=[2, 2, 2], depths=[1, 1, 1],
       key_dim=[8, 8, 8], image_size=64)
stages("textnet", "TextNet", "TextNetForImageClassification", 32, stem_num_channels=3, stem_out_channels=8, hidden_sizes=[8, 8, 16, 16, 24],
       conv_layer_kernel_sizes=[[[3, 3]], [[3, 1]], [[3, 3]], [[1, 3]]], conv_layer_strides=[[1], [2], [2], [2]])

SOUND = dict(vocab_size=20, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=48, conv_dim=(16, 16),
             conv_stride=(5, 2), conv_kernel=(10, 3), num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2)


def sound(batch):
    return (torch.randn(batch, 400),)


add("wav2vec2", "Wav2Vec2", "Wav2Vec2ForCTC", SOUND, ["input_values"], sound)
add("hubert", "Hubert", "HubertModel", SOUND, ["input_values"], sound)
add("wavlm", "WavLM", "WavLMModel", SOUND, ["input_values"], sound)
add("whisper-encoder", "Whisper", "WhisperForAudioClassification", dict(d_model=32, encoder_layers=2, decoder_layers=1, num_mel_bins=16,
    encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=16, num_labels=10,
    classifier_proj_size=16), ["input_features"], lambda b: (torch.randn(b, 16, 32),))
add("ast", "AST", "ASTForAudioClassification", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
    patch_size=8, max_length=32, num_mel_bins=16, num_labels=10), ["input_values"], lambda b: (torch.randn(b, 32, 16),))
add("speecht5-hifigan", "SpeechT5HifiGan", "SpeechT5HifiGan", dict(model_in_dim=8, upsample_initial_channel=16, upsample_rates=[2, 2],
    upsample_kernel_sizes=[4, 4], resblock_kernel_sizes=[3, 5], resblock_dilation_sizes=[[1, 3], [1, 3]]), ["spectrogram"],
    lambda b: (torch.randn(b, 12, 8),))
add("encodec-decoder", "Mimi", "MimiModel", dict(hidden_size=16, num_filters=4, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
    head_dim=8, intermediate_size=32, codebook_size=16, codebook_dim=8, num_quantizers=2, vector_quantization_hidden_dimension=8,
    upsampling_ratios=[4, 2], upsample_groups=16, num_semantic_quantizers=1), ["input_values"], lambda b: (torch.randn(b, 1, 320),))
add("patch-tst", "PatchTST", "PatchTSTForRegression", dict(num_input_channels=2, context_length=32, patch_length=8, patch_stride=8, d_model=16,
    num_hidden_layers=2, num_attention_heads=2, ffn_dim=32, num_targets=3), ["past_values"], lambda b: (torch.randn(b, 32, 2),))
add("decision", "DecisionTransformer", "DecisionTransformerModel", dict(state_dim=5, act_dim=3, hidden_size=32, n_layer=2, n_head=2,
    max_ep_len=16), ["states", "actions", "rewards", "returns_to_go", "timesteps"],
    lambda b: (torch.randn(b, 4, 5), torch.randn(b, 4, 3), torch.randn(b, 4, 1), torch.randn(b, 4, 1), torch.arange(4).repeat(b, 1)))
add("perceiver", "Perceiver", "PerceiverModel", dict(num_latents=6, d_latents=16, d_model=12, num_blocks=1, num_self_attends_per_block=2,
    num_self_attention_heads=2, num_cross_attention_heads=2), ["inputs"], lambda b: (torch.randn(b, 10, 12),))
