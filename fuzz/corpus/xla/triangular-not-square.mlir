func.func @main(%arg0: tensor<200x128xf32>, %arg1: tensor<200x1xf32>) -> tensor<200x1xf32> {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<200x128xf32>, tensor<200x1xf32>) -> tensor<200x1xf32>
  return %0 : tensor<200x1xf32>
}
