# SPDX-License-Identifier: Apache-2.0
"""Networks of timm, by name and with fewer and narrower blocks where the family takes such numbers."""
import timm
import torch

from zoo import model

# Name, image size, options of the constructor.
NETWORKS = [
    ("test_byobnet", 32, {}),
    ("test_coatnet", 32, {"img_size": 32}),
    ("test_convnext", 32, {}),
    ("test_convnext2", 32, {}),
    ("test_convnext3", 32, {}),
    ("test_efficientnet", 32, {}),
    ("test_efficientnet_evos", 32, {}),
    ("test_efficientnet_gn", 32, {}),
    ("test_efficientnet_ln", 32, {}),
    ("test_mambaout", 32, {}),
    ("test_maxvit", 64, {"img_size": 64}),
    ("test_nfnet", 32, {}),
    ("test_resnet", 32, {}),
    ("test_vit", 32, {"img_size": 32}),
    ("test_vit2", 32, {"img_size": 32}),
    ("test_vit3", 32, {"img_size": 32}),
    ("test_vit4", 32, {"img_size": 32}),
    ("test_vit_relpos", 32, {"img_size": 32}),
    ("beit_base_patch16_224", 32, {"img_size": 32, "embed_dim": 32, "depth": 2, "num_heads": 2}),
    ("cait_xxs24_224", 32, {"img_size": 32, "embed_dim": 32, "depth": 2, "num_heads": 2}),
    ("coat_lite_tiny", 64, {"img_size": 64, "embed_dims": [16, 16, 32, 32], "serial_depths": [1, 1, 1, 1]}),
    ("convit_tiny", 32, {"img_size": 32, "embed_dim": 32, "depth": 3, "num_heads": 2, "local_up_to_layer": 2}),
    ("crossvit_9_240", 120, {"img_size": 120, "embed_dim": (16, 32), "depth": ((1, 1, 0),)}),
    ("cspdarknet53", 32, {"depths": (1, 1, 1), "dims": (16, 24, 32)}),
    ("darknet53", 32, {"depths": (1, 1, 1), "dims": (16, 24, 32)}),
    ("davit_tiny", 32, {"depths": (1, 1), "embed_dims": (16, 32), "num_heads": (2, 2)}),
    ("dla34", 32, {}),
    ("dla60_res2net", 32, {}),
    ("dpn48b", 32, {"k_r": 32, "groups": 8, "k_sec": (1, 1, 1, 1)}),
    ("edgenext_xx_small", 64, {"depths": (1, 1, 1, 1), "dims": (8, 16, 24, 32), "heads": (4, 4, 4, 4)}),
    ("efficientformerv2_s0", 64, {"img_size": 64, "depths": (1, 1, 1, 1), "embed_dims": (16, 16, 32, 32)}),
    ("efficientvit_m0", 64, {"img_size": 64, "embed_dim": (16, 32, 32), "depth": (1, 1, 1), "num_heads": (2, 2, 2)}),
    ("efficientvit_b0", 64, {"widths": (8, 16, 32, 32, 64)}),
    ("eva02_tiny_patch14_224", 28, {"img_size": 28, "embed_dim": 32, "depth": 2, "num_heads": 2}),
    ("fasternet_t0", 32, {"depths": (1, 1, 1, 1), "embed_dim": 16}),
    ("fastvit_t8", 64, {"layers": (1, 1, 1, 1), "embed_dims": (16, 32, 32, 64)}),
    ("focalnet_tiny_srf", 32, {"depths": (1, 1), "embed_dim": 16, "focal_levels": (2, 2), "focal_windows": (3, 3)}),
    ("gcvit_xxtiny", 64, {"img_size": 64, "depths": (1, 1, 1, 1), "embed_dim": 16, "num_heads": (2, 2, 2, 2), "window_ratio": (4, 4, 2, 2)}),
    ("ghostnet_050", 32, {}),
    ("ghostnetv2_100", 32, {"width": 0.5}),
    ("hardcorenas_a", 32, {}),
    ("hgnetv2_b0", 32, {}),
    ("hiera_tiny_224", 64, {"img_size": 64, "embed_dim": 16, "num_heads": 1, "stages": (1, 1, 1, 1)}),
    ("hrnet_w18_small", 64, {}),
    ("inception_next_tiny", 32, {"depths": (1, 1, 1, 1), "dims": (16, 24, 32, 48)}),
    ("inception_v4", 96, {}),
    ("lcnet_050", 32, {}),
    ("levit_128s", 64, {"img_size": 64, "embed_dim": (32, 32, 32), "depth": (1, 1, 1), "num_heads": (2, 2, 2), "key_dim": 8}),
    ("mixnet_s", 32, {}),
    ("mixer_s32_224", 64, {"img_size": 64, "num_blocks": 2, "embed_dim": 32}),
    ("mobilenetv4_conv_small", 32, {}),
    ("mobileone_s0", 32, {}),
    ("mobilevit_xxs", 64, {}),
    ("mobilevitv2_050", 64, {}),
    ("mvitv2_tiny", 64, {"img_size": 64, "depths": (1, 1), "embed_dim": 16}),
    ("nest_tiny", 64, {"img_size": 64, "embed_dims": (16, 32, 32), "num_heads": (2, 2, 2), "depths": (1, 1, 1)}),
    ("nf_regnet_b0", 32, {}),
    ("pit_ti_224", 64, {"img_size": 64, "base_dims": [8, 8, 8], "depths": [1, 1, 1], "heads": [2, 2, 2]}),
    ("poolformer_s12", 32, {"layers": (1, 1, 1, 1), "embed_dims": (16, 32, 32, 48)}),
    ("pvt_v2_b0", 64, {"depths": (1, 1, 1, 1)}),
    ("regnety_002", 32, {}),
    ("repghostnet_050", 32, {}),
    ("repvgg_a0", 32, {}),
    ("repvit_m0_9", 32, {"depth": (1, 1, 1, 1), "embed_dim": (16, 24, 32, 48)}),
    ("res2net50_26w_4s", 32, {"layers": (1, 1, 1, 1), "base_width": 8}),
    ("resmlp_12_224", 32, {"img_size": 32, "num_blocks": 2, "embed_dim": 32}),
    ("resnest14d", 32, {"layers": (1, 1, 1, 1), "base_width": 16}),
    ("resnetv2_50", 32, {"layers": (1, 1, 1, 1), "channels": (16, 32, 48, 64), "stem_chs": 16}),
    ("rexnet_100", 32, {"width_mult": 0.5}),
    ("selecsls42b", 64, {}),
    ("seresnext26d_32x4d", 32, {"layers": (1, 1, 1, 1)}),
    ("sequencer2d_s", 56, {"img_size": 56, "layers": (1, 1, 1, 1), "embed_dims": (16, 32, 32, 32), "hidden_sizes": (4, 8, 8, 8)}),
    ("skresnet18", 32, {"layers": (1, 1, 1, 1)}),
    ("swiftformer_xs", 64, {"layers": (1, 1, 1, 1), "embed_dims": (16, 24, 32, 48)}),
    ("swinv2_cr_tiny_224", 64, {"img_size": 64, "embed_dim": 16, "depths": (1, 1), "num_heads": (2, 2)}),
    ("tf_efficientnet_lite0", 32, {}),
    ("tf_mobilenetv3_small_075", 32, {}),
    ("tiny_vit_5m_224", 64, {"img_size": 64, "embed_dims": (16, 32, 32, 32), "depths": (1, 1, 1, 1), "num_heads": (2, 2, 2, 2)}),
    ("tnt_s_legacy_patch16_224", 32, {"img_size": 32, "embed_dim": 32, "depth": 2, "num_heads": 2}),
    ("twins_pcpvt_small", 64, {"img_size": 64, "depths": (1, 1, 1, 1), "embed_dims": (16, 32, 32, 32)}),
    ("visformer_tiny", 64, {"img_size": 64, "init_channels": 8, "embed_dim": 32, "depth": (1, 1, 1), "num_heads": 2}),
    ("volo_d1_224", 64, {"img_size": 64, "layers": (1, 1, 1, 1), "embed_dims": (32, 32, 32, 32), "num_heads": (2, 2, 2, 2)}),
    ("xception41", 64, {}),
    ("xcit_nano_12_p16_224", 32, {"img_size": 32, "embed_dim": 32, "depth": 2, "num_heads": 2}),
]


def add(name, size, options):
    @model("timm/" + name)
    def build():
        return timm.create_model(name, num_classes=10, **options), lambda batch: (torch.randn(batch, 3, size, size),)


for entry in NETWORKS:
    add(*entry)
