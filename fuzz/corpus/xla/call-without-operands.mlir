func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.custom_call"() {call_target_name = "mhlo.cholesky"} : () -> tensor<4x4xf32>
  %1 = "stablehlo.custom_call"() {call_target_name = "mhlo.reshape"} : () -> !foo.bar
  return %0 : tensor<4x4xf32>
}
