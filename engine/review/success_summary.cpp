#include "engine/review/success_summary.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelskill::engine {
namespace {

/// Counters that are shown as one.
struct Counter {
    const char* label;
    std::array<const char*, 2> metrics;
};
constexpr std::array<Counter, 4> counters{{
    {"global requests",
     {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}},
    {"global sectors",
     {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}},
    {"shared-memory wavefronts",
     {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}},
    {"barriers", {"kernelskill__barriers.sum", nullptr}},
}};
/// A smaller relative change may come from another order of threads.
constexpr double changeShown = 0.01;

double total(const Counter& counter, const Metrics& metrics) {
    double sum = 0;
    for (const char* name : counter.metrics) {
        auto found = name == nullptr ? metrics.end() : metrics.find(name);
        sum += found == metrics.end() ? 0 : found->second;
    }
    return sum;
}

} // namespace

std::string summaryOfSuccess(const Verdict& verdict, const RunCounts& runs,
                             const std::vector<std::string>& notes) {
    std::string changes;
    for (const Counter& counter : counters) {
        double before = total(counter, verdict.before);
        double after = total(counter, verdict.after);
        if (std::abs(after - before) > changeShown * std::max(before, after))
            changes += fmt::format("{}{} {:.0f} -> {:.0f}", changes.empty() ? "; " : ", ",
                                   counter.label, before, after);
    }
    std::string untried;
    for (const std::string& note : notes)
        untried += "; " + note;
    const std::string probes =
        runs.probes == 0 ? "" : fmt::format(", and on {} probes", runs.probes);
    return fmt::format("Matches the original on {} fresh input{} of {} size{}{}{}{}.", runs.inputs,
                       runs.inputs == 1 ? "" : "s", runs.sizes, runs.sizes == 1 ? "" : "s", probes,
                       changes, untried);
}

std::string summaryOfSmaller(const std::string& constants, const std::string& itsSummary,
                             std::size_t runs, const std::vector<std::string>& notes) {
    std::string text = fmt::format("With {}: {} At the file's own size", constants, itsSummary);
    text += runs == 0 ? " it was not emulated"
                      : fmt::format(" it matches the original on {} fresh input{}", runs,
                                    runs == 1 ? "" : "s");
    for (const std::string& note : notes)
        text += "; " + note;
    return text + ".";
}

} // namespace kernelskill::engine
