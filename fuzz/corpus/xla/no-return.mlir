func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
 %0 = stablehlo.add %arg0, %arg0 : tensor<f32>
}
