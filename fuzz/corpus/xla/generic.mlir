#loc0 = loc("x")
module @m attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.buffer_donor = true, mhlo.memory_kind = "device"} loc("x"), %i: tensor<2xi32>) -> (tensor<2x3xf32> {mhlo.memory_kind = "pinned_host"}) {
    %0 = "stablehlo.gather"(%arg0, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>, indices_are_sorted = false}> : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x2xf32> loc(#loc1)
    %cst = stablehlo.constant dense<"0x0000803F"> : tensor<f32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%arg0 init: %cst) across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>)  {
      %2 = stablehlo.add %a, %b : tensor<f32>
      %3 = stablehlo.maximum %c, %d : tensor<f32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<f32>
    }
    %p = stablehlo.compare  LT, %1#0, %1#1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = "stablehlo.if"(%p) ({
      %5 = stablehlo.slice %arg0 [0:2, 0:3:1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
      stablehlo.return %5 : tensor<2x3xf32>
    }, {
      %6 = stablehlo.pad %arg0, %cst, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
      stablehlo.return %6 : tensor<2x3xf32>
    }) : (tensor<i1>) -> tensor<2x3xf32>
    %7 = stablehlo.custom_call @annotate_device_placement(%4) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc(callsite("f"("a.py":3:4) at fused["b.py":1:2, #loc1]))
    %8 = odd.thing %7 with [1, 2] {a = #odd.b<1>} : !odd.t<tensor<1xf32>>
    return %7 : tensor<2x3xf32>
  }
}
#loc1 = loc("jit(f)/gather"(#loc2))
#loc2 = loc("a.py":10:4)
