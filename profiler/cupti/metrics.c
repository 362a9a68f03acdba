/* SPDX-License-Identifier: Apache-2.0 */
/* gantry: table. The sets of metrics. What is here was accepted by CUPTI 13.0 for the chips named in test-metrics.c. */
#include "profiler/cupti/metrics.h"

/* GH100 (H100, H200): the triage groups are made to be counted together. Plain sm__throughput takes 19 passes there and
 * lts__throughput 3. */
static const GantryCuptiSampled sampled_gh100[] = {
  { "TriageCompute.sm__throughput.avg.pct_of_peak_sustained_elapsed", "SM throughput (%)", 1 },
  { "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed", "tensor pipe (%)", 1 },
  { "FBSP.TriageCompute.dramc__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput (%)", 1 },
  { "FBSP.TriageCompute.dramc__read_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM read (%)", 1 },
  { "FBSP.TriageCompute.dramc__write_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM write (%)", 1 },
  { "LTS.TriageCompute.lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 throughput (%)", 1 },
  { "PCI.TriageCompute.pcie__read_bytes.sum.per_second", "PCIe read (GB/s)", 1e-9 },
  { "PCI.TriageCompute.pcie__write_bytes.sum.per_second", "PCIe write (GB/s)", 1e-9 },
  { "TPC.TriageCompute.tpc__warps_active_realtime.avg.per_cycle_elapsed", "warps per TPC", 1 },
  { "FE_B.TriageCompute.gr__ctas_launched_realtime.sum", "blocks started", 1 },
};

/* What all chips from GA100 on have, in one pass. */
static const GantryCuptiSampled sampled_any[] = {
  { "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM active (%)", 1 },
  { "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor pipe (%)", 1 },
  { "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput (%)", 1 },
  { "dram__read_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM read (%)", 1 },
  { "dram__write_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM write (%)", 1 },
  { "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "L2 throughput (%)", 1 },
  { "pcie__read_bytes.sum.per_second", "PCIe read (GB/s)", 1e-9 },
  { "pcie__write_bytes.sum.per_second", "PCIe write (GB/s)", 1e-9 },
};

/* GB100 and its like count PCIe in the triage group alone. */
static const GantryCuptiSampled sampled_gb100[] = {
  { "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM active (%)", 1 },
  { "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor pipe (%)", 1 },
  { "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput (%)", 1 },
  { "dram__read_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM read (%)", 1 },
  { "dram__write_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM write (%)", 1 },
  { "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "L2 throughput (%)", 1 },
  { "PCI.TriageCompute.pcie__read_bytes.sum.per_second", "PCIe read (GB/s)", 1e-9 },
  { "PCI.TriageCompute.pcie__write_bytes.sum.per_second", "PCIe write (GB/s)", 1e-9 },
};

const GantryCuptiSampled *
_gantry_cupti_sampled (const char *chip, guint *n)
{
  if (g_strcmp0 (chip, "GH100") == 0)
    {
      *n = G_N_ELEMENTS (sampled_gh100);
      return sampled_gh100;
    }
  if (chip != NULL && g_str_has_prefix (chip, "GB1"))
    {
      *n = G_N_ELEMENTS (sampled_gb100);
      return sampled_gb100;
    }
  *n = G_N_ELEMENTS (sampled_any);
  return sampled_any;
}

static const GantryCuptiRanged ranged_any[] = {
  { "gpu__time_duration.sum", GANTRY_CUPTI_TIME, 1 },
  { "sm__sass_thread_inst_executed_op_fadd_pred_on.sum", GANTRY_CUPTI_FLOPS, 1 },
  { "sm__sass_thread_inst_executed_op_fmul_pred_on.sum", GANTRY_CUPTI_FLOPS, 1 },
  { "sm__sass_thread_inst_executed_op_ffma_pred_on.sum", GANTRY_CUPTI_FLOPS, 2 },
  { "sm__sass_thread_inst_executed_op_hadd_pred_on.sum", GANTRY_CUPTI_FLOPS, 1 },
  { "sm__sass_thread_inst_executed_op_hmul_pred_on.sum", GANTRY_CUPTI_FLOPS, 1 },
  { "sm__sass_thread_inst_executed_op_hfma_pred_on.sum", GANTRY_CUPTI_FLOPS, 2 },
  { "sm__sass_thread_inst_executed_op_dadd_pred_on.sum", GANTRY_CUPTI_FLOPS, 1 },
  { "sm__sass_thread_inst_executed_op_dmul_pred_on.sum", GANTRY_CUPTI_FLOPS, 1 },
  { "sm__sass_thread_inst_executed_op_dfma_pred_on.sum", GANTRY_CUPTI_FLOPS, 2 },
  { "sm__ops_path_tensor_src_bf16_dst_fp32.sum", GANTRY_CUPTI_TENSOR_FLOPS, 1 },
  { "sm__ops_path_tensor_src_tf32_dst_fp32.sum", GANTRY_CUPTI_TENSOR_FLOPS, 1 },
  { "sm__ops_path_tensor_src_fp64.sum", GANTRY_CUPTI_TENSOR_FLOPS, 1 },
  { "dram__bytes.sum", GANTRY_CUPTI_DRAM_BYTES, 1 },
  { "lts__t_bytes.sum", GANTRY_CUPTI_L2_BYTES, 1 },
  { "sm__warps_active.avg.pct_of_peak_sustained_active", GANTRY_CUPTI_OCCUPANCY, 1 },
  { "sm__throughput.avg.pct_of_peak_sustained_elapsed", GANTRY_CUPTI_SM_BUSY, 1 },
  { "dram__throughput.avg.pct_of_peak_sustained_elapsed", GANTRY_CUPTI_DRAM_BUSY, 1 },
  { "lts__throughput.avg.pct_of_peak_sustained_elapsed", GANTRY_CUPTI_L2_BUSY, 1 },
  { "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", GANTRY_CUPTI_TENSOR_BUSY, 1 },
  { "sm__cycles_elapsed.avg.per_second", GANTRY_CUPTI_CLOCK, 1 },
};

/* GH100 counts half precision by what goes in, whatever comes out. */
static const GantryCuptiRanged ranged_gh100[] = {
  { "sm__ops_path_tensor_src_fp16.sum", GANTRY_CUPTI_TENSOR_FLOPS, 1 },
  { "sm__ops_path_tensor_src_fp8.sum", GANTRY_CUPTI_TENSOR_FLOPS, 1 },
};

static const GantryCuptiRanged ranged_others[] = {
  { "sm__ops_path_tensor_src_fp16_dst_fp16.sum", GANTRY_CUPTI_TENSOR_FLOPS, 1 },
  { "sm__ops_path_tensor_src_fp16_dst_fp32.sum", GANTRY_CUPTI_TENSOR_FLOPS, 1 },
};

GArray *
_gantry_cupti_ranged (const char *chip)
{
  GArray *metrics = g_array_new (FALSE, FALSE, sizeof (GantryCuptiRanged));

  g_array_append_vals (metrics, ranged_any, G_N_ELEMENTS (ranged_any));
  if (g_strcmp0 (chip, "GH100") == 0)
    g_array_append_vals (metrics, ranged_gh100, G_N_ELEMENTS (ranged_gh100));
  else
    g_array_append_vals (metrics, ranged_others, G_N_ELEMENTS (ranged_others));
  return metrics;
}
