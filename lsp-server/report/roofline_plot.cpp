#include "lsp-server/report/roofline_plot.h"

namespace kernelskill::lsp {

std::vector<RooflineCeiling> ceilingsOf(const engine::KernelReport& report) {
    std::vector<RooflineCeiling> ceilings;
    const auto add = [&](std::string name, double perSecond, bool isMemory, std::string origin) {
        if (perSecond > 0)
            ceilings.push_back({std::move(name), perSecond, isMemory, std::move(origin)});
    };
    if (report.measured) {
        const engine::DeviceCeilings& measured = report.measured->ceilings;
        add("DRAM", measured.bytesPerSecond, true, "measured");
        add("L2", measured.cacheBytesPerSecond, true, "measured");
        add("FP32", measured.singlePerSecond, false, "measured");
        add("FP64", measured.doublePerSecond, false, "measured");
        return ceilings;
    }
    const auto& table = engine::builtinGpus();
    const engine::Gpu* gpu =
        table && report.roofline ? engine::gpuNamed(*table, report.roofline->gpu) : nullptr;
    if (gpu == nullptr)
        return ceilings;
    add("DRAM", gpu->memoryBytesPerSecond, true, "datasheet");
    add("FP32", gpu->singleFlops, false, "datasheet");
    add("FP64", gpu->doubleFlops, false, "datasheet");
    return ceilings;
}

std::optional<RooflinePoint> rooflinePoint(const engine::KernelReport& report, std::string label) {
    RooflinePoint point;
    point.label = std::move(label);
    if (report.measured) {
        const auto& measured = *report.measured;
        if (!measured.intensity || !measured.operationsPerSecond || *measured.intensity <= 0)
            return std::nullopt;
        point.intensity = {*measured.intensity, *measured.intensity};
        point.perSecond = {*measured.operationsPerSecond, *measured.operationsPerSecond};
        return point;
    }
    if (!report.roofline || !report.roofline->intensity || report.roofline->intensity->low <= 0 ||
        report.roofline->seconds.low <= 0)
        return std::nullopt;
    const engine::Roofline& model = *report.roofline;
    point.isModel = true;
    point.intensity = *model.intensity;
    point.perSecond = {model.operations / model.seconds.high, model.operations / model.seconds.low};
    return point;
}

} // namespace kernelskill::lsp
