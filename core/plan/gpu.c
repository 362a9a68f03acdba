/* SPDX-License-Identifier: Apache-2.0 */
/* Rates as published, dense (half of what is stated with sparsity): NVIDIA's data sheets of A100 80GB SXM (2021), H100 SXM (2023),
 * H200 SXM (2024) and HGX B200 (2025, for one GPU), and its Ada white paper (2.1) for RTX 4090. Special functions: 16 results a
 * cycle and multiprocessor (CUDA C++ Programming Guide, table of the throughput of native arithmetic instructions) at the clock
 * that the tensor rates imply. f16 without tensor cores: by the same table at that clock. PCIe 4 and 5, x16: 31.5 and 63 GB/s each
 * way, of which seven eighths remain after the protocol. Compared on 2026-11-25 with tables that quote those sheets: all agree but
 * B200, for which f32 is stated as 75 and as 80 TFLOPS, f64 as 37 and 40, and its memory as 7.7 and 8 TB/s: the lesser are taken. */
#include "core/plan/gpu.h"
#include <string.h>

/* clang-format off */
static const GantryGpuModel models[] = {
  { "a100", "A100 SXM, 80 GB", "sm_80", 108,
    { [GANTRY_UNIT_VECTOR_F32] = 19.5e12, [GANTRY_UNIT_VECTOR_F64] = 9.7e12, [GANTRY_UNIT_VECTOR_F16] = 78e12,
      [GANTRY_UNIT_PRODUCT_F32] = 19.5e12, [GANTRY_UNIT_PRODUCT_F64] = 9.7e12, [GANTRY_UNIT_PRODUCT_F16] = 312e12,
      [GANTRY_UNIT_PRODUCT_F8] = 312e12, [GANTRY_UNIT_PRODUCT_I8] = 19.5e12, [GANTRY_UNIT_SPECIAL] = 2.44e12 },
    156e12, 2.039e12, 27.5e9, 85899345920 },
  { "h100", "H100 SXM", "sm_90a", 132,
    { [GANTRY_UNIT_VECTOR_F32] = 67e12, [GANTRY_UNIT_VECTOR_F64] = 34e12, [GANTRY_UNIT_VECTOR_F16] = 134e12,
      [GANTRY_UNIT_PRODUCT_F32] = 67e12, [GANTRY_UNIT_PRODUCT_F64] = 34e12, [GANTRY_UNIT_PRODUCT_F16] = 989.5e12,
      [GANTRY_UNIT_PRODUCT_F8] = 1979e12, [GANTRY_UNIT_PRODUCT_I8] = 67e12, [GANTRY_UNIT_SPECIAL] = 3.87e12 },
    494.5e12, 3.35e12, 55e9, 85520809984 },
  { "h200", "H200 SXM", "sm_90a", 132,
    { [GANTRY_UNIT_VECTOR_F32] = 67e12, [GANTRY_UNIT_VECTOR_F64] = 34e12, [GANTRY_UNIT_VECTOR_F16] = 134e12,
      [GANTRY_UNIT_PRODUCT_F32] = 67e12, [GANTRY_UNIT_PRODUCT_F64] = 34e12, [GANTRY_UNIT_PRODUCT_F16] = 989.5e12,
      [GANTRY_UNIT_PRODUCT_F8] = 1979e12, [GANTRY_UNIT_PRODUCT_I8] = 67e12, [GANTRY_UNIT_SPECIAL] = 3.87e12 },
    494.5e12, 4.8e12, 55e9, 151397597184 },
  { "b200", "B200 (HGX)", "sm_100", 148,
    { [GANTRY_UNIT_VECTOR_F32] = 75e12, [GANTRY_UNIT_VECTOR_F64] = 37e12, [GANTRY_UNIT_VECTOR_F16] = 150e12,
      [GANTRY_UNIT_PRODUCT_F32] = 75e12, [GANTRY_UNIT_PRODUCT_F64] = 37e12, [GANTRY_UNIT_PRODUCT_F16] = 2250e12,
      [GANTRY_UNIT_PRODUCT_F8] = 4500e12, [GANTRY_UNIT_PRODUCT_I8] = 75e12, [GANTRY_UNIT_SPECIAL] = 4.4e12 },
    1100e12, 7.7e12, 55e9, 180000000000 },
  { "rtx4090", "GeForce RTX 4090", "sm_80", 128,
    { [GANTRY_UNIT_VECTOR_F32] = 82.6e12, [GANTRY_UNIT_VECTOR_F64] = 1.29e12, [GANTRY_UNIT_VECTOR_F16] = 82.6e12,
      [GANTRY_UNIT_PRODUCT_F32] = 82.6e12, [GANTRY_UNIT_PRODUCT_F64] = 1.29e12, [GANTRY_UNIT_PRODUCT_F16] = 165.2e12,
      [GANTRY_UNIT_PRODUCT_F8] = 330.3e12, [GANTRY_UNIT_PRODUCT_I8] = 82.6e12, [GANTRY_UNIT_SPECIAL] = 5.16e12 },
    82.6e12, 1.008e12, 27.5e9, 25757220864 },
};
/* clang-format on */

const GantryGpuModel *
gantry_gpu_model (const char *name)
{
  /* Code for sm_90 runs on what sm_90a is for. */
  const char *of = strcmp (name, "sm_90") == 0 ? "sm_90a" : name;

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    if (strcmp (models[i].name, of) == 0 || strcmp (models[i].arch, of) == 0)
      return &models[i];
  return NULL;
}

const GantryGpuModel *
gantry_gpu_model_of_device (const char *name, guint capability)
{
  static const char *const words[] = { "A100", "H100", "H200", "B200", "4090" };
  const char *arch = capability >= 100 ? "sm_100" : capability >= 90 ? "sm_90a" : "sm_80";

  G_STATIC_ASSERT (G_N_ELEMENTS (words) == G_N_ELEMENTS (models));
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    if (strstr (name, words[i]) != NULL)
      return &models[i];
  return capability >= 80 ? gantry_gpu_model (arch) : NULL;
}

char *
gantry_gpu_model_names (void)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", models[i].name);
  return g_string_free (names, FALSE);
}
