module @jit_f {
  func.func public @main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<8x4xf32> {mhlo.memory_kind = "pinned_host"}) -> (tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.divide %0, %2 : tensor<4x4xf32>
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %4:2 = stablehlo.while(%iterArg = %c0, %iterArg_1 = %3) : tensor<i32>, tensor<4x4xf32>
     cond {
      %5 = stablehlo.compare  LT, %iterArg, %c,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg, %c1 : tensor<i32>
      %6 = func.call @g(%iterArg_1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %5, %6 : tensor<i32>, tensor<4x4xf32>
    }
    return %4#1 : tensor<4x4xf32>
  }
  func.func private @g(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.sine %arg0 : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
