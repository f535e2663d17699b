/// Shows the measurements for a generated model as text, as JSON and as a part of a report.
#pragma once

#include "analysis/source/json.h"
#include "engine/workbench/model_measurement.h"
#include "lsp-server/report/html/report.h"

#include <string>

namespace kernelskill::lsp {

/// A line for the whole and one for each place, without a line break at the end:
///
///     measured on NVIDIA H200 in 12.3 s
///       conv2d: 98.2 µs by a library; 123 µs by own kernels: 128 x 128 results a block, ...
///         not exact enough: 71.0 µs by own kernels: ..., TF32: large-magnitude inputs, seed 4: ...
///     compared with LibTorch in float64 on six distributions of inputs, the whole model: right ...
[[nodiscard]] std::string modelMeasurementText(const engine::ModelMeasurement& measurement);

/// {gpu, why, seconds, places, whole?, accuracy}; a place is {nodes, operation, measured,
/// remembered, why, chosen, variants}, a variant {what, microseconds or null, spread, why,
/// refused}. The accuracy is {outcome: right, wrong or not compared, tolerance, error, worst, why,
/// of, remembered}.
[[nodiscard]] nlohmann::json modelMeasurementJson(const engine::ModelMeasurement& measurement);

[[nodiscard]] ReportSection modelMeasurementSection(const engine::ModelMeasurement& measurement);

} // namespace kernelskill::lsp
