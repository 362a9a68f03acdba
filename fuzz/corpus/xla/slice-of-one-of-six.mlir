func.func @main(%arg0: tensor<2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2xf32> {
  %0 = stablehlo.constant dense<0> : tensor<1xi64>
  %1 = stablehlo.constant dense<2> : tensor<1xi64>
  %2 = stablehlo.constant dense<1> : tensor<1xi64>
  %3 = "stablehlo.real_dynamic_slice"(%arg0, %0, %1, %2) : (tensor<2x2x2x2x2x2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2x2x2x2x2xf32>
  return %3 : tensor<2x2x2x2x2x2xf32>
}
