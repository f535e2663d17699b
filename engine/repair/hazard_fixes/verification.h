/// Runs a kernel with a fix beside the kernel without it.
#pragma once

#include "engine/execution/executor.h"
#include "engine/repair/hazard_fixes/fix_draft.h"
#include "engine/verdict/verdict.h"

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The launches on which a fix is tried: the one that showed the hazards first, then other sizes of
/// the same problem.
[[nodiscard]] std::vector<LaunchSpec> launchesToTry(const analysis::FileModel& file,
                                                    const analysis::KernelModel& kernel,
                                                    const LaunchSpec& shown);

/// The result of running a text.
struct FixTrial {
    bool isSound = false; ///< It compiles and runs, adds no hazard and changes no result.
    /// The remaining hazards of the first launch, with lines of the original.
    std::vector<Hazard> hazards;
    std::vector<Check> checks; ///< The last one failed unless the fix is sound.
};

/// Tries fixes of one kernel. Each text is tried once, even if it is meant for several hazards.
class FixVerifier {
public:
    /// `maxBlocks` limits the first launch, as in the run that showed the hazards.
    FixVerifier(Executor& executor, const analysis::Toolchain& toolchain, KernelRef kernel,
                std::vector<LaunchSpec> launches, std::uint64_t maxBlocks, std::stop_token stop);
    ~FixVerifier();

    [[nodiscard]] const std::vector<LaunchSpec>& launches() const { return launches_; }
    /// The hazards of the original on the first launch; an error if it does not run.
    [[nodiscard]] Result<std::vector<Hazard>> hazards();
    [[nodiscard]] const FixTrial& attempt(const HazardFixDraft& draft);

private:
    struct Parser;
    [[nodiscard]] FixTrial judge(const HazardFixDraft& draft, const std::string& text);
    [[nodiscard]] const Result<RunResult>& original(std::size_t launch);
    [[nodiscard]] Result<RunResult> run(const Image& image, std::size_t launch,
                                        const std::vector<BufferExtent>& extents) const;
    [[nodiscard]] std::optional<std::string> difference(const HazardFixDraft& draft,
                                                        std::size_t launch, const RunResult& before,
                                                        const RunResult& after) const;

    Executor& executor_;
    KernelRef kernel_;
    std::vector<LaunchSpec> launches_;
    std::uint64_t maxBlocks_;
    std::stop_token stop_;
    std::unique_ptr<Parser> parser_;
    std::map<std::size_t, Result<RunResult>> originals_;
    std::map<std::string, FixTrial> trials_;
};

/// Whether both have the same kind and concern the same pair of lines.
[[nodiscard]] bool isSameHazard(const Hazard& one, const Hazard& other);

} // namespace kernelskill::engine
