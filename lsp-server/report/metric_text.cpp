#include "lsp-server/report/metric_text.h"

#include "engine/execution/metric_names.h"
#include "engine/static_facts/local_memory.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>

namespace kernelskill::lsp {

namespace metric = engine::metric;

namespace {

struct Label {
    const char* name;
    std::string_view label;
    /// Shown at a glance, too.
    bool isImportant = false;
    /// A zero is news where the section has anything to say.
    bool showsZero = false;
};

constexpr std::array measured{
    Label{metric::medianTime, "median time, L2 cache cold", true},
    Label{"gpu__time_duration.sum", "time under the profiler"},
    Label{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "multiprocessors, of their peak",
          true},
    Label{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM, of its peak", true},
    Label{"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2, of its peak", true},
    Label{"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1, of its peak", true},
    Label{"sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy", true},
    Label{"smsp__issue_active.avg.pct_of_peak_sustained_active", "cycles that issue", true},
    Label{"dram__bytes_read.sum", "read from DRAM", true},
    Label{"dram__bytes_write.sum", "written to DRAM", true},
};

constexpr std::array globalMemory{
    Label{metric::load.globalRequests, "load requests"},
    Label{metric::load.globalSectors, "load sectors"},
    Label{metric::load.sectorsPerRequest, "sectors per load request", true},
    Label{metric::load.countedSectorsPerRequest, "the same, counted by the emulator"},
    Label{metric::load.globalBytes, "bytes that lanes load"},
    Label{metric::load.movedBytes, "bytes of sectors loaded"},
    Label{metric::load.bytesPerSector, "bytes used of each sector loaded", true},
    Label{metric::load.uniqueBytes, "distinct bytes loaded"},
    Label{metric::load.reuse, "loads of each distinct byte", true},
    Label{metric::store.globalRequests, "store requests"},
    Label{metric::store.globalSectors, "store sectors"},
    Label{metric::store.sectorsPerRequest, "sectors per store request", true},
    Label{metric::store.countedSectorsPerRequest, "the same, counted by the emulator"},
    Label{metric::store.globalBytes, "bytes that lanes store"},
    Label{metric::store.movedBytes, "bytes of sectors stored"},
    Label{metric::store.bytesPerSector, "bytes used of each sector stored", true},
    Label{metric::store.uniqueBytes, "distinct bytes stored"},
    Label{metric::store.reuse, "stores of each distinct byte"},
};

constexpr std::array sharedMemory{
    Label{metric::load.sharedRequests, "load requests"},
    Label{metric::load.sharedWavefronts, "load wavefronts", true},
    Label{metric::load.sharedConflicts, "load bank conflicts", true, true},
    Label{metric::store.sharedRequests, "store requests"},
    Label{metric::store.sharedWavefronts, "store wavefronts", true},
    Label{metric::store.sharedConflicts, "store bank conflicts", true, true},
};

constexpr std::array localMemory{
    Label{metric::localLoads, "load requests", true, true},
    Label{metric::localStores, "store requests", true, true},
};

constexpr std::array atomics{
    Label{metric::globalAtomicRequests, "requests to global memory", true},
    Label{metric::globalAtomicSectors, "sectors of global memory"},
    Label{metric::sharedAtomicRequests, "requests to shared memory", true},
    Label{metric::atomicLanes, "lanes that update"},
    Label{metric::atomicSerializations, "turns of lanes on one address"},
    Label{metric::atomicContention, "turns per request (1: no contention)", true},
};

constexpr std::array arithmetic{
    Label{metric::floatingOperations, "floating-point operations", true, true},
    Label{metric::single.add, "float additions"},
    Label{metric::single.multiply, "float multiplications"},
    Label{metric::single.fused, "float multiply-adds"},
    Label{metric::dbl.add, "double additions"},
    Label{metric::dbl.multiply, "double multiplications"},
    Label{metric::dbl.fused, "double multiply-adds"},
    Label{metric::half.add, "half additions"},
    Label{metric::half.multiply, "half multiplications"},
    Label{metric::half.fused, "half multiply-adds"},
    Label{metric::halfOperations, "operations on halves"},
    Label{metric::conversions, "conversions"},
    Label{metric::uncountedCalls, "calls of functions not counted", true},
    Label{metric::operationsPerUniqueByte, "operations per distinct byte", true},
    Label{metric::operationsPerSectorByte, "operations per byte of sectors", true},
};

constexpr std::array control{
    Label{metric::activeThreads, "active lanes per instruction", true},
    Label{metric::branchTargets, "branches"},
    Label{metric::divergentBranchTargets, "divergent branches", false, true},
    Label{metric::uniformBranchPercent, "uniform branches", true},
    Label{metric::barriers, "block barriers", true},
    Label{metric::warpOperations, "shuffles, votes and warp barriers", true},
};

std::string withThousands(double value) {
    std::string digits = fmt::format("{:.0f}", value);
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string formatted(std::string_view name, double value) {
    if (name.ends_with(".pct") || name.find(".pct_of_") != std::string_view::npos)
        return fmt::format("{:.1f} %", value);
    if (name == metric::medianTime || name == "gpu__time_duration.sum")
        return durationText(value * 1e-3);
    if (name.starts_with("dram__bytes_"))
        return shortNumber(value) + "B";
    if (std::abs(value - std::round(value)) < 1e-9)
        return withThousands(value);
    return std::abs(value) < 1 ? fmt::format("{:.3g}", value) : fmt::format("{:.2f}", value);
}

template <typename Labels>
std::vector<MetricText> textsOf(const engine::Metrics& metrics, const Labels& labels) {
    const auto find = [&](const Label& label) { return metrics.find(label.name); };
    const bool hasAny = std::ranges::any_of(labels, [&](const Label& label) {
        return find(label) != metrics.end() && (find(label)->second != 0 || label.isImportant);
    });
    std::vector<MetricText> texts;
    for (const Label& label : labels) {
        const auto found = find(label);
        if (found != metrics.end() && (found->second != 0 || (label.showsZero && hasAny)))
            texts.push_back(
                {found->first, std::string(label.label), formatted(found->first, found->second)});
    }
    return texts;
}

} // namespace

std::vector<MetricSection> metricSections(const engine::Metrics& metrics) {
    std::vector<MetricSection> sections;
    const auto add = [&](std::string_view title, const auto& labels) {
        if (auto texts = textsOf(metrics, labels); !texts.empty())
            sections.push_back({std::string(title), std::move(texts)});
    };
    add("Measured on the GPU", measured);
    add("Global memory", globalMemory);
    add("Shared memory", sharedMemory);
    add("Local memory", localMemory);
    add("Atomics", atomics);
    add("Arithmetic", arithmetic);
    add("Control flow", control);
    return sections;
}

std::vector<MetricText> importantMetrics(const engine::Metrics& metrics) {
    std::vector<MetricText> texts;
    const auto add = [&](std::string_view what, const auto& labels) {
        for (const Label& label : labels) {
            const auto found = metrics.find(label.name);
            if (label.isImportant && found != metrics.end() && found->second != 0)
                texts.push_back({found->first, std::string(what) + std::string(label.label),
                                 formatted(found->first, found->second)});
        }
    };
    add("", measured);
    add("", globalMemory);
    add("shared ", sharedMemory);
    add("local ", localMemory);
    add("atomic: ", atomics);
    add("", arithmetic);
    add("", control);
    return texts;
}

engine::Metrics reportMetrics(const engine::KernelReport& report) {
    engine::Metrics metrics = report.profile->metrics;
    if (report.facts && *report.facts)
        engine::addLocalMemory(metrics, **report.facts);
    return metrics;
}

std::vector<MetricText> allMetrics(const engine::Metrics& metrics) {
    std::vector<MetricText> texts;
    for (const auto& [name, value] : metrics)
        texts.push_back({name, "", formatted(name, value)});
    return texts;
}

std::string durationText(double microseconds) {
    if (microseconds >= 1e6)
        return fmt::format("{:.3g} s", microseconds * 1e-6);
    if (microseconds >= 1e3)
        return fmt::format("{:.3g} ms", microseconds * 1e-3);
    return microseconds < 1 ? fmt::format("{:.3g} ns", microseconds * 1e3)
                            : fmt::format("{:.3g} µs", microseconds);
}

std::string shortNumber(double value) {
    struct Unit {
        double size;
        std::string_view name;
    };
    constexpr std::array units{Unit{1e12, " T"}, Unit{1e9, " G"}, Unit{1e6, " M"}, Unit{1e3, " k"}};
    for (const Unit& unit : units) {
        if (value >= unit.size)
            return fmt::format("{:.3g}{}", value / unit.size, unit.name);
    }
    return fmt::format("{:.3g}", value);
}

} // namespace kernelskill::lsp
