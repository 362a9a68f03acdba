# SPDX-License-Identifier: Apache-2.0
"""Encoders with decoders of segmentation_models_pytorch."""
import segmentation_models_pytorch as smp
import torch

from zoo import model

NETWORKS = [
    ("unet", smp.Unet, dict(encoder_name="resnet18", encoder_depth=3, decoder_channels=(32, 16, 8))),
    ("unet-attention", smp.Unet, dict(encoder_name="mobilenet_v2", encoder_depth=4, decoder_channels=(32, 32, 16, 16), decoder_attention_type="scse")),
    ("unet-efficientnet", smp.Unet, dict(encoder_name="efficientnet-b0", encoder_depth=3, decoder_channels=(24, 16, 8))),
    ("unet-transposed", smp.Unet, dict(encoder_name="resnet18", encoder_depth=3, decoder_channels=(32, 16, 8), decoder_interpolation="bilinear")),
    ("unet-plus-plus", smp.UnetPlusPlus, dict(encoder_name="resnet18", encoder_depth=3, decoder_channels=(32, 16, 8))),
    ("manet", smp.MAnet, dict(encoder_name="resnet18", encoder_depth=3, decoder_channels=(32, 16, 8), decoder_pab_channels=16)),
    ("linknet", smp.Linknet, dict(encoder_name="resnet18", encoder_depth=4)),
    ("linknet-mobileone", smp.Linknet, dict(encoder_name="mobileone_s0", encoder_depth=3)),
    ("fpn", smp.FPN, dict(encoder_name="resnet18", decoder_pyramid_channels=32, decoder_segmentation_channels=32)),
    ("pspnet", smp.PSPNet, dict(encoder_name="resnet18", psp_out_channels=32)),
    ("pan-128", smp.PAN, dict(encoder_name="mobilenet_v2", decoder_channels=16)),
    ("deeplab-v3-plus", smp.DeepLabV3Plus, dict(encoder_name="mobilenet_v2", decoder_channels=16, decoder_atrous_rates=(2, 4, 6))),
    ("upernet", smp.UPerNet, dict(encoder_name="resnet18", decoder_channels=16)),
    ("segformer", smp.Segformer, dict(encoder_name="mit_b0", decoder_segmentation_channels=16)),
]


def add(name, kind, options):
    size = 128 if name == "pan-128" else 64

    @model("segmentation/" + name)
    def build():
        return kind(encoder_weights=None, classes=3, **options), lambda batch: (torch.randn(batch, 3, size, size),)


for entry in NETWORKS:
    add(*entry)
