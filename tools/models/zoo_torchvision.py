# SPDX-License-Identifier: Apache-2.0
"""Networks of torchvision: classification, segmentation, parts of detectors, video and optical flow."""
import functools

import torch
import torchvision.models as tv
from torch import nn
from torchvision.models import convnext, densenet, maxvit, regnet, resnet, segmentation, swin_transformer, vgg, video
from torchvision.models.detection import rpn, ssdlite
from torchvision.models.detection.retinanet import RetinaNetHead
from torchvision.ops import FeaturePyramidNetwork

from zoo import model


def image(size, channels=3):
    return lambda batch: (torch.randn(batch, channels, size, size),)


def add(name, size, make, **options):
    @model("torchvision/" + name, **options)
    def build():
        return make(), image(size)


def with_classifier(network, n):
    network.classifier = nn.Linear(n, 10)
    return network


class Outputs(nn.Module):
    """Members of a dictionary as a tuple."""

    def __init__(self, network, names):
        super().__init__()
        self.network, self.names = network, names

    def forward(self, x):
        y = self.network(x)
        return tuple(y[name] for name in self.names)


def small_resnet(block, layers=(1, 1, 1, 1), **options):
    return resnet.ResNet(block, list(layers), num_classes=10, **options)


def fcn(head):
    backbone = tv._utils.IntermediateLayerGetter(small_resnet(resnet.BasicBlock), {"layer4": "out"})
    kind = segmentation.fcn.FCN if head is segmentation.fcn.FCNHead else segmentation.deeplabv3.DeepLabV3
    return Outputs(kind(backbone, head(512, 5)), ["out"])


class PyramidHeads(nn.Module):
    """What a detector computes before it sorts its boxes."""

    def __init__(self, head):
        super().__init__()
        self.body = tv._utils.IntermediateLayerGetter(small_resnet(resnet.BasicBlock), {"layer2": "0", "layer3": "1", "layer4": "2"})
        self.fpn = FeaturePyramidNetwork([128, 256, 512], 16)
        self.head = head

    def forward(self, x):
        y = self.head(list(self.fpn(self.body(x)).values()))
        return tuple(y.values()) if isinstance(y, dict) else tuple(part for level in y for part in level)


def video_net(conv, stem):
    return video.resnet.VideoResNet(video.resnet.BasicBlock, [conv] * 4, [1, 1, 1, 1], stem, num_classes=10)


add("alexnet", 64, lambda: with_classifier(tv.alexnet(), 256 * 36))
add("vgg", 32, lambda: with_classifier(vgg.VGG(vgg.make_layers([8, "M", 16, "M", 32, 32, "M"])), 32 * 49))
add("vgg-bn", 32, lambda: with_classifier(vgg.VGG(vgg.make_layers([8, 8, "M", 16, "M", 32, "M"], batch_norm=True)), 32 * 49))
add("resnet-basic", 32, lambda: small_resnet(resnet.BasicBlock))
add("resnet-bottleneck", 32, lambda: small_resnet(resnet.Bottleneck, width_per_group=16))
add("resnext", 32, lambda: small_resnet(resnet.Bottleneck, groups=8, width_per_group=4))
add("wide-resnet", 32, lambda: small_resnet(resnet.Bottleneck, width_per_group=32))
add("resnet-dilated", 40, lambda: small_resnet(resnet.Bottleneck, width_per_group=8, replace_stride_with_dilation=[False, True, True]))
add("densenet", 32, lambda: densenet.DenseNet(growth_rate=8, block_config=(2, 3, 2, 2), num_init_features=16, num_classes=10))
add("densenet-growth-12", 40, lambda: densenet.DenseNet(growth_rate=12, block_config=(3, 2), num_init_features=24, num_classes=10))
add("googlenet", 64, lambda: tv.googlenet(num_classes=10, aux_logits=False, init_weights=False))
add("inception-v3", 75, lambda: tv.inception_v3(num_classes=10, aux_logits=False, init_weights=False))
add("mobilenet-v2", 32, lambda: tv.mobilenet_v2(num_classes=10, width_mult=0.35))
add("mobilenet-v3-small", 64, lambda: tv.mobilenet_v3_small(num_classes=10, width_mult=0.5))
add("mobilenet-v3-large", 32, lambda: tv.mobilenet_v3_large(num_classes=10, width_mult=0.5))
add("mnasnet", 32, lambda: tv.mnasnet0_5(num_classes=10))
add("shufflenet-v2-x0.5", 32, lambda: tv.shufflenet_v2_x0_5(num_classes=10))
add("shufflenet-v2-x1.0", 64, lambda: tv.shufflenet_v2_x1_0(num_classes=10))
add("squeezenet-1.0", 48, lambda: tv.squeezenet1_0(num_classes=10))
add("squeezenet-1.1", 64, lambda: tv.squeezenet1_1(num_classes=10))
add("efficientnet-b0", 32, lambda: tv.efficientnet_b0(num_classes=10))
add("regnet-x", 32, lambda: regnet.RegNet(regnet.BlockParams.from_init_params(4, 24, 24.48, 2.54, 8), num_classes=10))
add("regnet-y", 32, lambda: regnet.RegNet(regnet.BlockParams.from_init_params(4, 24, 24.48, 2.54, 8, se_ratio=0.25), num_classes=10))
add("convnext", 32, lambda: convnext.ConvNeXt([convnext.CNBlockConfig(16, 32, 1), convnext.CNBlockConfig(32, None, 1)], num_classes=10))
add("swin", 32, lambda: swin_transformer.SwinTransformer([2, 2], 16, [2, 2], [2, 4], [4, 4], num_classes=10))
add("swin-v2", 32, lambda: swin_transformer.SwinTransformer([2, 2], 16, [2, 2], [2, 4], [4, 4], num_classes=10,
                                                              block=swin_transformer.SwinTransformerBlockV2,
                                                              downsample_layer=swin_transformer.PatchMergingV2))
add("vit", 32, lambda: tv.vision_transformer.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10))
add("maxvit", 64, lambda: maxvit.MaxVit((64, 64), 16, 4, [16, 32], [1, 1], 8, 0.0, num_classes=10))
add("fcn", 64, lambda: fcn(segmentation.fcn.FCNHead))
add("deeplab-v3", 64, lambda: fcn(segmentation.deeplabv3.DeepLabHead))
add("lraspp", 64, lambda: Outputs(segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=5), ["out"]))
add("retinanet-heads", 64, lambda: PyramidHeads(RetinaNetHead(16, 3, 4, norm_layer=functools.partial(nn.GroupNorm, 4))))
add("rpn-heads", 64, lambda: PyramidHeads(rpn.RPNHead(16, 3)))


class SsdLite(nn.Module):
    def __init__(self):
        super().__init__()
        norm = functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.03)
        backbone = tv.mobilenet_v3_small(width_mult=0.5, norm_layer=norm)
        self.backbone = ssdlite._mobilenet_extractor(backbone, 6, norm)
        self.backbone.eval()
        channels = [y.shape[1] for y in self.backbone(torch.zeros(1, 3, 64, 64)).values()]
        self.head = ssdlite.SSDLiteHead(channels, [3] * len(channels), 4, norm)

    def forward(self, x):
        return tuple(self.head(list(self.backbone(x).values())).values())


add("ssdlite-heads", 64, SsdLite)


@model("torchvision/r3d")
def r3d():
    return video_net(video.resnet.Conv3DSimple, video.resnet.BasicStem), lambda b: (torch.randn(b, 3, 4, 16, 16),)


@model("torchvision/r2plus1d")
def r2plus1d():
    return video_net(video.resnet.Conv2Plus1D, video.resnet.R2Plus1dStem), lambda b: (torch.randn(b, 3, 4, 16, 16),)


@model("torchvision/swin3d")
def swin3d():
    return (video.swin_transformer.SwinTransformer3d([2, 2, 2], 16, [2], [2], [2, 2, 2], num_classes=10),
            lambda b: (torch.randn(b, 3, 4, 16, 16),))


@model("torchvision/mvit")
def mvit():
    settings = [video.mvit.MSBlockConfig(1, 16, 32, [3, 3, 3], [3, 3, 3], [1, 1, 1], [1, 4, 4]),
                video.mvit.MSBlockConfig(2, 32, 32, [3, 3, 3], [3, 3, 3], [1, 2, 2], [1, 2, 2])]
    return (video.mvit.MViT((16, 16), 4, settings, residual_pool=True, residual_with_cls_embed=False, rel_pos_embed=True,
                            proj_after_attn=True, num_classes=10), lambda b: (torch.randn(b, 3, 4, 16, 16),))


@model("torchvision/raft", opset=16, exporter="script")
def raft():
    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.network = tv.optical_flow.raft_small()

        def forward(self, a, b):
            return self.network(a, b, num_flow_updates=2)[-1]

    return Flow(), lambda b: (torch.randn(b, 3, 128, 128), torch.randn(b, 3, 128, 128))
