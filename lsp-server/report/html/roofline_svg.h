/// A roofline as SVG: both axes logarithmic, ceilings as lines with their names on them, kernels as
/// points.
#pragma once

#include "lsp-server/report/html/html_writer.h"
#include "lsp-server/report/html/report.h"

#include <string>

namespace kernelskill::lsp {

/// Draws nothing without a ceiling of memory and one of arithmetic. Colours are the page's, by
/// classes.
void drawRoofline(HtmlWriter& page, const RooflinePlot& plot);

/// "51 TFLOP/s", "4.3 TB/s"
[[nodiscard]] std::string rateText(double perSecond, bool isMemory);

} // namespace kernelskill::lsp
