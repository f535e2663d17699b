#include "engine/diagnosis/measured_roofline.h"

#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

double sumOf(const Metrics& metrics, const metric::OperationNames& names) {
    return findMetric(metrics, names.add).value_or(0) +
           findMetric(metrics, names.multiply).value_or(0) +
           2 * findMetric(metrics, names.fused).value_or(0);
}

std::string perSecond(double value, const char* unit) {
    if (value >= 1e12)
        return fmt::format("{:.3g} T{}/s", value * 1e-12, unit);
    return fmt::format("{:.3g} G{}/s", value * 1e-9, unit);
}

} // namespace

double MeasuredRoofline::percent() const {
    return std::max(memoryPercent, computePercent.value_or(0));
}

std::optional<MeasuredRoofline> measuredRooflineOf(const Profile& profile,
                                                   const DeviceCeilings& ceilings) {
    const auto& metrics = profile.metrics;
    const auto nanoseconds = findMetric(metrics, metric::medianTime);
    const auto read = findMetric(metrics, "dram__bytes_read.sum");
    const auto written = findMetric(metrics, "dram__bytes_write.sum");
    if (!nanoseconds || *nanoseconds <= 0 || !read || !written || ceilings.bytesPerSecond <= 0)
        return std::nullopt;
    const double seconds = *nanoseconds * 1e-9;
    const double bytes = *read + *written;
    MeasuredRoofline roofline;
    roofline.ceilings = ceilings;
    roofline.microseconds = *nanoseconds * 1e-3;
    roofline.bytesPerSecond = bytes / seconds;
    roofline.memoryPercent = 100 * roofline.bytesPerSecond / ceilings.bytesPerSecond;
    if (const auto operations = findMetric(metrics, metric::floatingOperations);
        operations && *operations > 0) {
        roofline.operationsPerSecond = *operations / seconds;
        if (bytes > 0)
            roofline.intensity = *operations / bytes;
        const bool isDouble = sumOf(metrics, metric::dbl) > sumOf(metrics, metric::single);
        const double ceiling = isDouble ? ceilings.doublePerSecond : ceilings.singlePerSecond;
        if (ceiling > 0)
            roofline.computePercent = 100 * *roofline.operationsPerSecond / ceiling;
    }
    return roofline;
}

std::string describe(const MeasuredRoofline& roofline) {
    auto text = fmt::format("{:.4g} us: {}, {:.0f} % of what this {} moves at best",
                            roofline.microseconds, perSecond(roofline.bytesPerSecond, "B"),
                            roofline.memoryPercent, roofline.ceilings.gpu);
    if (roofline.computePercent)
        text +=
            fmt::format("; {}, {:.0f} % of its multiply-adds",
                        perSecond(*roofline.operationsPerSecond, "FLOP"), *roofline.computePercent);
    if (roofline.intensity)
        text += fmt::format("; {:.2g} FLOP per byte", *roofline.intensity);
    return text;
}

} // namespace kernelskill::engine
