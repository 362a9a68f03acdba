func.func @main() -> (tensor<2xi32>, tensor<2xi8>) {
 %0 = stablehlo.constant dense<[-010, 99999999999999999999]> : tensor<2xi32>
 %1 = stablehlo.constant dense<[300, -300]> : tensor<2xi8>
 return %0, %1 : tensor<2xi32>, tensor<2xi8>
}
