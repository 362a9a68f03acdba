# SPDX-License-Identifier: Apache-2.0
"""Networks of diffusion models, of diffusers."""
import diffusers
import torch
from torch import nn

from zoo import model


class Sample(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, *inputs):
        return self.network(*inputs, return_dict=False)[0]


def times(batch):
    return torch.arange(batch) * 7 + 3


def noise(channels, size):
    return lambda b: (torch.randn(b, channels, size, size), times(b))


def add(name, make, inputs):
    @model("diffusers/" + name)
    def build():
        return Sample(make()), inputs


add("unet", lambda: diffusers.UNet2DModel(16, 3, 3, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, attention_head_dim=8,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D")), noise(3, 16))
add("unet-resnet-sampling", lambda: diffusers.UNet2DModel(16, 3, 3, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4,
    down_block_types=("ResnetDownsampleBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "ResnetUpsampleBlock2D")), noise(3, 16))
add("unet-conditioned", lambda: diffusers.UNet2DConditionModel(16, 4, 4, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8,
    cross_attention_dim=16, attention_head_dim=8, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D")), lambda b: (torch.randn(b, 4, 16, 16), times(b), torch.randn(b, 5, 16)))
add("unet-1d", lambda: diffusers.UNet1DModel(32, in_channels=2, out_channels=2, extra_in_channels=32, block_out_channels=(16, 32),
    down_block_types=("DownBlock1DNoSkip", "DownBlock1D"), up_block_types=("UpBlock1D", "UpBlock1DNoSkip")),
    lambda b: (torch.randn(b, 2, 32), times(b)))
add("autoencoder-kl", lambda: diffusers.AutoencoderKL(block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4, latent_channels=4,
    down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2), lambda b: (torch.randn(b, 3, 16, 16),))
add("autoencoder-tiny", lambda: diffusers.AutoencoderTiny(encoder_block_out_channels=(8, 8), decoder_block_out_channels=(8, 8),
    num_encoder_blocks=(1, 1), num_decoder_blocks=(1, 1)), lambda b: (torch.randn(b, 3, 16, 16),))
add("vq", lambda: diffusers.VQModel(block_out_channels=(8,), layers_per_block=1, norm_num_groups=4, num_vq_embeddings=12),
    lambda b: (torch.randn(b, 3, 16, 16),))
add("pixart", lambda: diffusers.PixArtTransformer2DModel(2, 8, in_channels=4, out_channels=4, num_layers=1, cross_attention_dim=16, sample_size=8,
    patch_size=2, caption_channels=12, use_additional_conditions=False),
    lambda b: (torch.randn(b, 4, 8, 8), torch.randn(b, 5, 12), times(b)))
add("sd3", lambda: diffusers.SD3Transformer2DModel(8, 2, 4, num_layers=2, attention_head_dim=8, num_attention_heads=2, joint_attention_dim=12,
    caption_projection_dim=16, pooled_projection_dim=10, out_channels=4, pos_embed_max_size=8),
    lambda b: (torch.randn(b, 4, 8, 8), torch.randn(b, 5, 12), torch.randn(b, 10), times(b)))
