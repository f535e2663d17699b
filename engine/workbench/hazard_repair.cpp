#include "engine/workbench/hazard_repair.h"

#include "engine/comparison/text_difference.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr int maxRoundsPerKernel = 8;

/// Repairs one kernel until no hazard is left or no fix helps.
class KernelRepair {
public:
    KernelRepair(HazardFixFinder& fixes, ProgramSource& program, HazardRepair& repair,
                 std::stop_token stop, const ProgressSink& progress)
        : fixes_(fixes), program_(program), repair_(repair), stop_(std::move(stop)),
          progress_(progress) {}

    Result<void> run(const std::string& name) {
        for (int round = 0; round <= maxRoundsPerKernel; ++round) {
            const auto* kernel = analysis::kernelNamed(*program_.model, name);
            if (kernel == nullptr)
                return {};
            const auto report = fixes_.profiler().profile({program_, *kernel}, stop_, progress_);
            if (!report) {
                if (report.error().kind == ErrorKind::Cancelled)
                    return std::unexpected(report.error());
                repair_.notRun.push_back(fmt::format("'{}': {}", name, report.error().describe()));
                return {};
            }
            const std::vector<Hazard>& hazards = report->profile->hazards;
            if (round == 0)
                repair_.hazardsBefore += hazards.size();
            if (hazards.empty())
                return {};
            auto applied = round < maxRoundsPerKernel ? applyBest(*kernel, hazards) : false;
            if (!applied)
                return std::unexpected(applied.error());
            if (!*applied) {
                repair_.left.insert(repair_.left.end(), hazards.begin(), hazards.end());
                return {};
            }
        }
        return {};
    }

private:
    /// Returns false if there is no fix.
    Result<bool> applyBest(const analysis::KernelModel& kernel,
                           const std::vector<Hazard>& hazards) {
        auto fixes = fixes_.find({program_, kernel}, stop_, progress_);
        if (!fixes)
            return std::unexpected(fixes.error());
        const auto best = std::ranges::min_element(**fixes, {}, &HazardFix::hazardsAfter);
        if (best == (*fixes)->end())
            return false;
        auto text = analysis::applyEdits(program_.text, best->edits);
        if (!text)
            return std::unexpected(text.error());
        auto model = analysis::analyzeFile(program_.file, *text, program_.command,
                                           fixes_.machines().toolchain(), program_.unsaved);
        if (!model)
            return std::unexpected(model.error());
        repair_.applied.push_back({hazards.at(best->hazard), best->title});
        program_.text = std::move(*text);
        program_.model = std::make_shared<const analysis::FileModel>(std::move(*model));
        return true;
    }

    HazardFixFinder& fixes_;
    ProgramSource& program_;
    HazardRepair& repair_;
    std::stop_token stop_;
    const ProgressSink& progress_;
};

} // namespace

Result<HazardRepair> repairHazards(HazardFixFinder& fixes, const ProgramSource& program,
                                   std::stop_token stop, const ProgressSink& progress) {
    if (auto emulator = fixes.machines().emulator(); !emulator)
        return std::unexpected(emulator.error());
    HazardRepair repair;
    ProgramSource current = program;
    std::vector<std::string> names;
    for (const analysis::KernelModel& kernel : program.model->kernels) {
        if (kernel.file == program.model->file)
            names.push_back(kernel.qualifiedName);
    }
    KernelRepair kernels(fixes, current, repair, stop, progress);
    for (const std::string& name : names) {
        if (auto done = kernels.run(name); !done)
            return std::unexpected(done.error());
    }
    if (!repair.applied.empty())
        repair.edits = {{program.model->file, textDifference(program.text, current.text)}};
    repair.text = std::move(current.text);
    return repair;
}

} // namespace kernelskill::engine
