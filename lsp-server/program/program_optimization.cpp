#include "lsp-server/program/program_optimization.h"

#include "analysis/source/files.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "engine/whole_program/whole_statements.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace kernelskill::lsp {
namespace {

namespace fs = std::filesystem;
using engine::KernelEdits;
using engine::KernelOutcome;
using engine::OptimizedKernel;
using engine::ProgramPair;

Result<engine::TimelineSummary> timelineOf(const engine::Workload& workload, const Options& options,
                                           const std::stop_token& stop) {
    KERNELSKILL_TRY(const auto recorded, recordTimeline(options, inBackground(workload, stop)));
    if (recorded.status != 0)
        return std::unexpected(Error{ErrorKind::Failed,
                                     fmt::format("with the timeline the program ended with status "
                                                 "{}",
                                                 recorded.status),
                                     engine::commandText(workload.command),
                                     {}});
    auto summary = engine::summaryOf(recorded.file.activities);
    if (summary.kernels.empty())
        return std::unexpected(Error{ErrorKind::Failed,
                                     "the program ran no kernel",
                                     engine::commandText(workload.command),
                                     {}});
    return summary;
}

/// Edits of the copy's files as edits of the tree's. Failed if one is of another file.
Result<analysis::EditSet> editsFromRoot(const analysis::EditSet& edits, const fs::path& root) {
    analysis::EditSet moved;
    for (const auto& [file, fileEdits] : edits) {
        const auto path = analysis::canonicalPath(file);
        if (!analysis::isBelow(path, root))
            return std::unexpected(Error{
                ErrorKind::Failed, "its edits are of a file outside of the workspace", file, {}});
        moved[path.lexically_relative(root).string()] = fileEdits;
    }
    return moved;
}

/// Says which other instantiations the edits of `kernel` are of, too, and which edits they contain.
/// `found` are the kernels with edits, in their order.
void addInstantiations(KernelEdits& edits, const OptimizedKernel& kernel,
                       const std::vector<OptimizedKernel>& all,
                       const std::vector<OptimizedKernel*>& found) {
    if (!kernel.share.isInstantiation())
        return;
    edits.symbol = kernel.share.times.symbol;
    for (const OptimizedKernel& other : all)
        if (&other != &kernel && other.share.isHot() && other.sharesTextWith(kernel))
            edits.others.push_back(other.share.times.symbol);
    if (!kernel.base)
        return;
    const auto base = std::ranges::find(found, &all[*kernel.base]);
    if (base != found.end())
        edits.base = static_cast<std::size_t>(base - found.begin());
}

/// Runs one optimisation step by step.
class Optimizing {
public:
    Optimizing(const ProgramInTree& program, const ProgramSearch& search, const SearchTools& tools,
               std::stop_token stop)
        : program_(program), search_(search), tools_(tools), stop_(std::move(stop)) {}

    Result<ProgramOptimization> run() {
        KERNELSKILL_TRY(const auto tree, engine::listTree(program_.root, stop_));
        if (!tree.note.empty())
            say("note: " + tree.note);
        KERNELSKILL_TRY(pair_, makePair(tree));
        KERNELSKILL_CHECK(pair_->buildOriginal());
        KERNELSKILL_TRY(const auto times, pair_->timelineOfOriginal());
        ProgramOptimization result;
        ProgramOptimizationReport& report = result.report;
        report.command = program_.workload.command;
        // The copy is what is searched, whatever becomes of the tree meanwhile.
        const engine::KernelPlaces places({pair_->originalRoot(), tree.files, {}}, stop_);
        KERNELSKILL_TRY(auto searched,
                        searchProgram(*pair_,
                                      engine::programProfile(times, places, program_.folder),
                                      search_, tools_, stop_));
        report.kernels = std::move(searched.kernels);
        report.hostEdits = std::move(searched.hostEdits);
        KERNELSKILL_TRY(const auto edits, keepEdits(report));
        // A trial may have found that more cannot be compared.
        report.check = pair_->check();
        report.outputNote = pair_->outputNote();
        report.bufferNote = pair_->buffers().note();
        if (const auto& compared = pair_->buffers().compared())
            report.buffers = {compared->count(), compared->bytes()};
        for (const auto& [file, fileEdits] : edits) {
            KERNELSKILL_TRY(auto before, pair_->textOf(file));
            KERNELSKILL_TRY(const auto after, analysis::applyEdits(before, fileEdits));
            report.diff += analysis::unifiedDiff(file, before, after);
            result.files[program_.root / file] = {std::move(before), fileEdits};
        }
        return result;
    }

private:
    void say(const std::string& sentence) const { tools_.messages.say(sentence); }

    Result<std::unique_ptr<ProgramPair>> makePair(const engine::SourceTree& tree) const {
        engine::ProgramPairOptions options;
        options.limits.bytes = program_.copyBytes;
        options.timeline = [this](const engine::Workload& workload, const std::stop_token& stop) {
            return timelineOf(workload, tools_.options, stop);
        };
        options.recordBuffers = [this](const fs::path& folder) {
            return bufferRecording(folder, tools_.options);
        };
        options.onStep = [this](std::string_view what) { say(std::string(what)); };
        say("copying " + tree.root.string());
        return ProgramPair::make(tree, program_.workload, std::move(options), stop_);
    }

    /// Edits that a trial decides about, and the entries of the report that each is of.
    struct Found {
        std::vector<KernelEdits> edits; ///< Those of `kernels`, then those of `hosts`.
        std::vector<OptimizedKernel*> kernels;
        std::vector<engine::HostEdit*> hosts;

        /// Writes into the report what became of the edits number `at`.
        void set(std::size_t at, KernelOutcome outcome, std::string why) const {
            if (at < kernels.size()) {
                kernels[at]->outcome = outcome;
                kernels[at]->why = std::move(why);
            } else {
                hosts[at - kernels.size()]->outcome = outcome;
                hosts[at - kernels.size()]->why = std::move(why);
            }
        }
        void setTakenBack(const engine::EditOutcome& outcome) const {
            for (const engine::TakenBack& back : outcome.takenBack)
                set(back.at, KernelOutcome::TakenBack, back.why);
        }
        /// Returns the kernels that are `kept`, for a trial of these alone. It keeps the base of
        /// each.
        [[nodiscard]] Found only(const std::vector<std::size_t>& kept) const {
            Found part;
            for (const std::size_t at : kept) {
                part.edits.push_back(edits[at]);
                part.kernels.push_back(kernels[at]);
                if (auto& base = part.edits.back().base)
                    base = static_cast<std::size_t>(std::ranges::find(kept, *base) - kept.begin());
            }
            return part;
        }
    };

    /// Builds, checks and times the program with what the searches found, and then with edits of
    /// the host's code, so that a stop in between leaves what is kept of the kernels.
    Result<analysis::EditSet> keepEdits(ProgramOptimizationReport& report) const {
        Found found = editsOfKernels(report);
        engine::EditOutcome outcome;
        if (!found.edits.empty()) {
            KERNELSKILL_TRY(outcome, engine::runTrial(found.edits, *pair_));
            found.setTakenBack(outcome);
            if (!outcome.notDone.empty()) {
                report.isStopped = true;
                for (const std::size_t at : outcome.kept)
                    found.set(at, KernelOutcome::Unchecked, "stopped: " + outcome.notDone);
                return unchecked(found, outcome.kept);
            }
        }
        KERNELSKILL_CHECK(addHostEdits(report, found, outcome));
        if (outcome.kept.empty()) {
            report.isStopped = found.edits.empty() && stop_.stop_requested();
            return analysis::EditSet();
        }
        for (const std::size_t at : outcome.kept) {
            found.set(at, KernelOutcome::Kept, {});
            if (at >= found.kernels.size())
                continue;
            const OptimizedKernel& kept = *found.kernels[at];
            found.kernels[at]->speedup =
                engine::speedupOf(engine::timesOf(found.edits[at], outcome.turns));
            for (OptimizedKernel& other : report.kernels)
                if (other.sharesTextWith(kept) && !other.speedup)
                    other.speedup =
                        engine::speedupOf(outcome.turns.ofSymbol(other.share.times.symbol));
        }
        report.turns = std::move(outcome.turns);
        return engine::joinedEdits(found.edits, outcome.kept);
    }

    /// Tries edits of the host's code, and those that pay together with the kernels' that are kept.
    /// Then `found` and `outcome` are about these; else they stay.
    Result<void> addHostEdits(ProgramOptimizationReport& report, Found& found,
                              engine::EditOutcome& outcome) const {
        Found both = found.only(outcome.kept);
        KERNELSKILL_CHECK(tryHostEdits(report, both));
        if (both.hosts.empty())
            return {};
        KERNELSKILL_TRY(auto together, engine::runTrial(both.edits, *pair_));
        if (!together.notDone.empty()) {
            for (engine::HostEdit* host : both.hosts)
                host->why = "stopped: " + together.notDone;
            return {};
        }
        both.setTakenBack(together);
        found = std::move(both);
        outcome = std::move(together);
        return {};
    }

    /// The edits of kernels that searches have found.
    Found editsOfKernels(ProgramOptimizationReport& report) const {
        Found found;
        for (OptimizedKernel& kernel : report.kernels) {
            if (!kernel.found || !kernel.found->isImproved() ||
                kernel.outcome == KernelOutcome::TakenBack)
                continue;
            auto edits = editsFromRoot(kernel.found->edits, pair_->originalRoot());
            if (!edits) {
                kernel.outcome = KernelOutcome::TakenBack;
                kernel.why = edits.error().describe();
                continue;
            }
            const auto& verdict = kernel.found->verdict;
            const double speedup = verdict && verdict->speedup
                                       ? *verdict->speedup
                                       : kernel.found->modelledGain.value_or(1);
            found.edits.push_back({kernel.share.place->qualifiedName, std::move(*edits),
                                   speedup > 0 ? kernel.share.share * (1 - 1 / speedup) : 0});
            found.kernels.push_back(&kernel);
        }
        for (std::size_t at = 0; at < found.edits.size(); ++at)
            addInstantiations(found.edits[at], *found.kernels[at], report.kernels, found.kernels);
        return found;
    }

    /// Builds, checks and times the program with each edit of the host's code alone: beside edits
    /// of kernels its gain could not be told. Adds those that pay, with the statements that they
    /// are in: a kernel's edit of a launch that is another's by now must not be kept with them.
    Result<void> tryHostEdits(ProgramOptimizationReport& report, Found& found) const {
        for (engine::HostEdit& host : report.hostEdits) {
            if (stop_.stop_requested() || pair_->runsLong()) {
                host.why =
                    stop_.stop_requested()
                        ? "stopped before it was tried"
                        : "a run of the program takes more than 20 s, and this takes several";
                continue;
            }
            auto edits = editsFromRoot(host.edits, pair_->originalRoot());
            if (!edits) {
                host.outcome = KernelOutcome::TakenBack;
                host.why = edits.error().describe();
                continue;
            }
            for (auto& [file, fileEdits] : *edits) {
                KERNELSKILL_TRY(const auto text, pair_->textOf(file));
                KERNELSKILL_TRY(fileEdits, engine::asWholeStatements(text, std::move(fileEdits)));
            }
            say(fmt::format("trying {}: {}", host.skill, host.title));
            KernelEdits alone{host.kernel, std::move(*edits), 0};
            alone.subject = engine::EditSubject::Host;
            KERNELSKILL_TRY(const auto outcome, engine::runTrial({alone}, *pair_));
            if (!outcome.takenBack.empty()) {
                host.outcome = KernelOutcome::TakenBack;
                host.why = outcome.takenBack.front().why;
                continue;
            }
            if (!outcome.notDone.empty()) {
                host.why = "stopped: " + outcome.notDone;
                continue;
            }
            host.speedup = engine::speedupByHost(outcome.turns);
            alone.gain = 1 - 1 / *host.speedup;
            alone.subject = engine::EditSubject::PayingHost;
            found.edits.push_back(std::move(alone));
            found.hosts.push_back(&host);
        }
        return {};
    }

    /// These edits; of two that overlap, those with more gain.
    static analysis::EditSet unchecked(const Found& found, std::vector<std::size_t> indices) {
        std::ranges::stable_sort(indices, std::ranges::greater{},
                                 [&](std::size_t at) { return found.edits[at].gain; });
        std::vector<std::size_t> taken;
        analysis::EditSet edits;
        for (const std::size_t at : indices) {
            taken.push_back(at);
            if (auto joined = engine::joinedEdits(found.edits, taken)) {
                edits = std::move(*joined);
                continue;
            }
            taken.pop_back();
            found.set(at, KernelOutcome::TakenBack,
                      "its edits overlap with those of another kernel");
        }
        return edits;
    }

    const ProgramInTree& program_;
    const ProgramSearch& search_;
    const SearchTools& tools_;
    std::stop_token stop_;
    std::unique_ptr<ProgramPair> pair_;
};

} // namespace

Result<ProgramOptimization> optimizeInCopies(const ProgramInTree& program,
                                             const ProgramSearch& search, const SearchTools& tools,
                                             const std::stop_token& stop) {
    return Optimizing(program, search, tools, stop).run();
}

} // namespace kernelskill::lsp
