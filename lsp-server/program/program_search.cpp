#include "lsp-server/program/program_search.h"

#include "analysis/source/files.h"
#include "analysis/source/try.h"
#include "engine/process/file_descriptor.h"
#include "engine/program/command_words.h"
#include "engine/whole_program/search_budget.h"
#include "lsp-server/program/injection.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <span>
#include <utility>

namespace kernelskill::lsp {
namespace {

using engine::KernelOutcome;
using engine::OptimizedKernel;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

/// A program that is held, and the file that has what it prints.
struct HeldForSearch {
    std::filesystem::path printed;
    engine::FileDescriptor output; ///< A program that is started again needs it, too.
    std::unique_ptr<engine::ProgramPause> pause;
};

/// Each takes a build of the program and several runs.
constexpr std::size_t maxHostEdits = 3;

/// A kernel to search.
struct OpenKernel {
    std::size_t at = 0; ///< Index into the result.
    CapturedKernel kernel;
    double weight = 0;
    std::string onlyHeld; ///< Why it cannot be run outside of the program; empty if it can.
};

/// The text of a template's kernel after the last search that found something.
struct FoundText {
    std::size_t kernel = 0;  ///< Index into the result.
    analysis::EditSet edits; ///< All of them, of the original's copy.
};

/// The name that messages use: the whole one of an instantiation, since a template has several.
const std::string& nameOf(const OptimizedKernel& kernel) {
    return kernel.share.isInstantiation() ? kernel.share.times.name
                                          : kernel.share.place->qualifiedName;
}

Error cancelled() {
    return {ErrorKind::Cancelled, "stopped", {}, {}};
}

class Search {
public:
    Search(const engine::ProgramPair& pair, const ProgramSearch& search, const SearchTools& tools,
           const std::stop_token& stop)
        : pair_(pair), search_(search), tools_(tools), stop_(stop) {}

    Result<SearchedProgram> run(const engine::ProgramProfile& profile) {
        KERNELSKILL_CHECK(choose(profile));
        if (std::ranges::all_of(result_, [](const auto& each) { return !each.why.empty(); }))
            return SearchedProgram{std::move(result_), {}};
        const auto captures = pair_.folder() / "captures";
        KERNELSKILL_TRY(const auto recorded, capture(captures));
        Options options = tools_.options;
        if (!options.compilationDatabase.empty())
            options.compilationDatabase =
                pair_.databaseFolder(options.compilationDatabase).string();
        const auto root = pair_.originalRoot();
        CapturedKernels kernels(tools_.workbench, root, captures, tools_.readerOf(root, options));
        KERNELSKILL_TRY(auto open, openAll(kernels, recorded.captures));
        KERNELSKILL_CHECK(searchAll(kernels, open));
        return SearchedProgram{std::move(result_), hostEdits(kernels, open)};
    }

private:
    template <typename... Values>
    void say(fmt::format_string<Values...> format, Values&&... values) const {
        tools_.messages.say(fmt::format(format, std::forward<Values>(values)...));
    }

    /// Lists the hot kernels, with the reason why one is not searched.
    Result<void> choose(const engine::ProgramProfile& profile) {
        std::vector<engine::KernelDefinition> known;
        const std::uint64_t most = search_.maxKernels;
        for (const engine::KernelShare& share : profile.kernels) {
            const bool isNamed = !search_.kernel.empty();
            if (isNamed ? !share.place || !share.place->isNamed(search_.kernel) : !share.isHot())
                continue;
            OptimizedKernel& kernel = result_.emplace_back();
            kernel.share = share;
            const bool isKnown =
                share.place && std::ranges::find(known, *share.place) != known.end();
            if (!share.place)
                kernel.why = "the workspace does not define it";
            else if (isKnown && !share.isInstantiation())
                kernel.why = "another kernel of its name takes longer";
            else if (isKnown && !share.isHot())
                kernel.why = "another instantiation of it takes longer";
            else if (known.size() >= most)
                kernel.why = fmt::format("{} kernel{} at most {} searched", most,
                                         most == 1 ? "" : "s", most == 1 ? "is" : "are");
            else
                known.push_back(*share.place);
        }
        if (result_.empty() && !search_.kernel.empty())
            return std::unexpected(Error{
                ErrorKind::InvalidInput,
                fmt::format("the program ran no kernel '{}' of this workspace", search_.kernel),
                {},
                "`kernelskill profile -- ./program` lists them"});
        return {};
    }

    Result<RecordedCaptures> capture(const std::filesystem::path& folder) const {
        engine::Recording recording;
        recording.program = engine::commandText(pair_.original().command);
        for (const OptimizedKernel& kernel : result_)
            if (kernel.why.empty())
                recording.kernels.push_back(kernel.share.times.symbol);
        say("capturing {} kernel{}", recording.kernels.size(),
            recording.kernels.size() == 1 ? "" : "s");
        auto recorded = recordCaptures(folder, std::move(recording), tools_.options,
                                       inBackground(pair_.original(), stop_));
        if (recorded)
            for (const Error& problem : recorded->captures.problems)
                say("warning: {}", problem.describe());
        return recorded;
    }

    /// Profiles the kernels, which tells what each could gain. The one to search first comes first.
    Result<std::vector<OpenKernel>> openAll(CapturedKernels& kernels,
                                            const engine::StoredCaptures& captures) {
        std::vector<OpenKernel> open;
        for (std::size_t at = 0; at < result_.size(); ++at) {
            OptimizedKernel& kernel = result_[at];
            if (!kernel.why.empty())
                continue;
            if (stop_.stop_requested())
                return std::unexpected(cancelled());
            say("profiling {}", nameOf(kernel));
            const auto opened = kernels.open(*kernel.share.place, kernel.share.times.symbol);
            if (!opened) {
                kernel.why = opened.error().describe();
                continue;
            }
            const auto saving = savingOf(kernels, *opened, captures, kernel);
            if (!saving && !search_.holds) {
                kernel.why = saving.error().describe();
                continue;
            }
            const engine::KernelRef ref{opened->snapshot->program, *opened->kernel};
            kernel.saving =
                saving ? *saving
                       : engine::savingAtMost({}, *kernels.workbench().knowledge().diagnosis(ref));
            open.push_back({at, *opened, kernel.share.share * kernel.saving,
                            saving ? std::string() : saving.error().describe()});
        }
        std::ranges::stable_sort(open, std::ranges::greater{}, &OpenKernel::weight);
        leaveOut(open);
        return open;
    }

    /// Takes the kernels with the least to gain from the list if the budget is not enough for all.
    void leaveOut(std::vector<OpenKernel>& open) {
        const std::size_t most = engine::searchableKernels(search_.budget);
        for (std::size_t place = most; place < open.size(); ++place)
            result_[open[place].at].why = fmt::format(
                "{} s are enough for {} kernel{} that can gain more; for this one, too, give "
                "--seconds {}",
                search_.budget.count(), most, most == 1 ? "" : "s",
                (engine::minSearchTime * static_cast<seconds::rep>(place + 1)).count());
        if (open.size() > most)
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(most), open.end());
    }

    /// Profiles the kernel at its captured launch.
    Result<double> savingOf(CapturedKernels& kernels, const CapturedKernel& opened,
                            const engine::StoredCaptures& captures,
                            const OptimizedKernel& kernel) const {
        const std::string& symbol = kernel.share.times.symbol;
        if (std::ranges::none_of(captures.launches, [&](const engine::StoredLaunch& stored) {
                return stored.launch.symbol == symbol;
            }))
            return std::unexpected(Error{ErrorKind::Failed,
                                         "no launch of it was captured",
                                         {},
                                         "launches of graphs cannot be (docs/captures.md)"});
        const engine::KernelRef ref{opened.snapshot->program, *opened.kernel};
        const auto& profiler = kernels.workbench().profiler();
        KERNELSKILL_TRY(const auto report, search_.measures ? profiler.profileOnGpu(ref, stop_, {})
                                                            : profiler.profile(ref, stop_, {}));
        return engine::savingAtMost(report.measured, *report.bottleneck);
    }

    Result<void> searchAll(CapturedKernels& kernels, const std::vector<OpenKernel>& open) {
        std::vector<double> weights;
        for (const OpenKernel& each : open)
            weights.push_back(each.weight);
        const seconds least = engine::leastSearchTime(open.size(), search_.budget);
        seconds left = search_.budget;
        for (std::size_t i = 0; i < open.size(); ++i) {
            OptimizedKernel& kernel = result_[open[i].at];
            const auto time = engine::timeForNext(std::span(weights).subspan(i), left, least);
            say("searching {}: {:.0f} % of the time, {} s", nameOf(kernel),
                100 * kernel.share.share, time.count());
            const auto begin = Clock::now();
            part_ = {static_cast<double>(i), static_cast<double>(open.size())};
            searchOne(kernels, open[i], time, kernel);
            if (kernel.found && kernel.found->isImproved())
                leaveText(kernels, open[i]);
            kernel.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
            left -= seconds(static_cast<seconds::rep>(std::ceil(kernel.seconds)));
            if (stop_.stop_requested())
                return stopped(std::span(open).subspan(i + 1));
        }
        return {};
    }

    /// Asks for edits of the host's code, for the kernels in their order. Each has to pass a
    /// review, but for one that nothing but the whole program can check.
    std::vector<engine::HostEdit> hostEdits(CapturedKernels& kernels,
                                            const std::vector<OpenKernel>& open) const {
        std::vector<engine::HostEdit> found;
        std::vector<analysis::EditSet> known; // Several kernels may have one offer.
        const engine::ShortTermMemory memory = memoryOf("host");
        engine::SkillAdvisor& advisor = kernels.workbench().advisor();
        for (const OpenKernel& each : open) {
            const engine::KernelRef kernel{each.kernel.snapshot->program, *each.kernel.kernel};
            for (const auto& [offer, edits] : advisor.hostOffers(kernel, memory, stop_)) {
                if (found.size() == maxHostEdits || stop_.stop_requested())
                    return found;
                if (std::ranges::find(known, edits) != known.end())
                    continue;
                known.push_back(edits);
                say("checking {}: {}", offer.skillId, offer.title);
                const auto reviewed = advisor.apply(kernel, offer, memory, stop_, {});
                if (reviewed && (reviewed->acceptable() || !reviewed->verdict.isAboutEdit))
                    found.push_back(
                        {offer.skillId, offer.title, kernel.kernel.qualifiedName, edits});
            }
        }
        return found;
    }

    /// Says which kernels were not searched, if anything was found in others; else Cancelled.
    Result<void> stopped(std::span<const OpenKernel> left) {
        for (const OpenKernel& each : left)
            result_[each.at].why = "stopped before it was searched";
        const bool hasFound = std::ranges::any_of(result_, [](const OptimizedKernel& kernel) {
            return kernel.found && kernel.found->isImproved() &&
                   kernel.outcome != KernelOutcome::TakenBack;
        });
        return hasFound ? Result<void>() : std::unexpected(cancelled());
    }

    /// Searches the kernel inside the program, and on its captured launch if that cannot be done.
    void searchOne(CapturedKernels& kernels, const OpenKernel& open, seconds time,
                   OptimizedKernel& kernel) const {
        const auto begin = Clock::now();
        const auto* text = textOf(kernel);
        auto held = search_.holds ? hold(kernel) : std::unexpected(Error{});
        const analysis::EditSet begun = text != nullptr ? text->edits : analysis::EditSet();
        auto found = held ? search(kernels, open, begun, time, held->pause.get())
                          : std::unexpected(held.error());
        if (!found && search_.holds) {
            kernel.notHeld = found.error().describe();
            held = std::unexpected(found.error()); // Its memory is needed.
        }
        if (!found && open.onlyHeld.empty() && !stop_.stop_requested()) {
            const auto left = time - std::chrono::floor<seconds>(Clock::now() - begin);
            found = search(kernels, open, begun, std::max(left, engine::minSearchTime), nullptr);
        }
        if (held)
            kernel.held = release(*held);
        if (!found) {
            kernel.why = open.onlyHeld.empty() ? found.error().describe()
                                               : open.onlyHeld + "; " + kernel.notHeld;
            return;
        }
        kernel.found = std::move(*found);
        if (text != nullptr)
            kernel.base = text->kernel;
        if (!kernel.found->isImproved()) {
            kernel.outcome = KernelOutcome::NothingBetter;
            kernel.why = (begun.empty() ? "" : "beyond the edits of another instantiation: ") +
                         kernel.found->stopText;
        }
    }

    /// The kernel's text as earlier searches have left it; null if they have found nothing.
    [[nodiscard]] const FoundText* textOf(const OptimizedKernel& kernel) const {
        const auto found = std::ranges::find_if(texts_, [&](const FoundText& text) {
            return kernel.sharesTextWith(result_[text.kernel]);
        });
        return found == texts_.end() ? nullptr : &*found;
    }

    /// Leaves the text that was found to the searches of the template's other instantiations,
    /// unless it is not for all of them.
    void leaveText(CapturedKernels& kernels, const OpenKernel& open) {
        OptimizedKernel& kernel = result_[open.at];
        if (auto why = whyNotForAll(kernels, open)) {
            kernel.outcome = KernelOutcome::TakenBack;
            kernel.why = std::move(*why);
            return;
        }
        std::erase_if(texts_, [&](const FoundText& text) {
            return kernel.sharesTextWith(result_[text.kernel]);
        });
        texts_.push_back({open.at, kernel.found->edits});
    }

    /// Tries what was found at the first launches of the other hot instantiations. Says why they
    /// cannot have it; nullopt also where that cannot be tried, so that the check of the whole
    /// program is left.
    std::optional<std::string> whyNotForAll(CapturedKernels& kernels,
                                            const OpenKernel& open) const {
        const OptimizedKernel& kernel = result_[open.at];
        const auto* text = textOf(kernel);
        for (const OptimizedKernel& other : result_) {
            if (!search_.holds || &other == &kernel || !other.share.isHot() ||
                !other.sharesTextWith(kernel))
                continue;
            say("trying its edits at {}", nameOf(other));
            const auto held = hold(other);
            if (!held) {
                sayNotTried(other, held.error());
                continue;
            }
            const auto& verdict = kernel.found->verdict;
            const auto measured = kernels.workbench().advisor().measureInProgram(
                {open.kernel.snapshot->program, *open.kernel.kernel},
                text != nullptr ? text->edits : analysis::EditSet(), kernel.found->edits,
                verdict && verdict->confidence != engine::Confidence::Weak, *held->pause, stop_);
            static_cast<void>(held->pause->resume(stop_));
            if (!measured) {
                sayNotTried(other, measured.error());
                continue;
            }
            if (!measured->agreement && measured->agreement.error().isAboutEdit)
                return fmt::format("they do not fit another instantiation, {}: {}", nameOf(other),
                                   measured->agreement.error().detail);
            if (measured->timing && measured->timing->status == engine::VerdictStatus::Slower)
                return fmt::format("another instantiation, {}, is slower with them: {}",
                                   nameOf(other), measured->timing->sentence);
        }
        return std::nullopt;
    }

    void sayNotTried(const OptimizedKernel& kernel, const Error& why) const {
        say("note: they were not tried at {}, so the check of the whole program is left: {}",
            nameOf(kernel), why.describe());
    }

    /// Holds the program at the kernel's first launch, which is the one that captures take.
    Result<HeldForSearch> hold(const OptimizedKernel& kernel) const {
        KERNELSKILL_TRY(const auto library, injectedLibrary("libkernelskill-replay.so"));
        HeldForSearch held;
        held.printed = pair_.folder() / "held-output";
        held.output = engine::FileDescriptor(
            ::open(held.printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        const engine::Workload& original = pair_.original();
        engine::ProgramTrialOptions wanted;
        wanted.program.words = original.command;
        wanted.program.folder = original.folder;
        wanted.program.environment = original.environment;
        wanted.program.library = library;
        wanted.program.output = held.output.get();
        wanted.cupti = cuptiFor(tools_.options);
        KERNELSKILL_TRY(held.pause, engine::ProgramPause::open(std::move(wanted),
                                                               kernel.share.times.symbol, stop_));
        return held;
    }

    /// Lets the program go on to its end, and compares what it prints with what it prints alone.
    engine::HeldSearch release(const HeldForSearch& from) const {
        engine::ProgramPause& pause = *from.pause;
        const engine::HeldDescription& held = pause.held();
        engine::HeldSearch search{held.launch.ordinal,
                                  held.allocations,
                                  held.allocatedBytes,
                                  held.savedBytes,
                                  pause.restarts(),
                                  {},
                                  {}};
        if (auto end = pause.resume(stop_))
            search.end = std::move(*end);
        const auto& alone = pair_.printed();
        const auto printed = analysis::readFile(from.printed);
        if (!alone || !alone->isComparable() || !printed || !search.restarts.empty() ||
            !search.end.empty())
            return search;
        const auto difference = alone->differenceTo(*printed);
        search.isOutputSame = !difference;
        if (difference)
            search.end = "its output is not the one of a run alone: " + *difference;
        return search;
    }

    /// An empty memory, which goes with the copies of the program.
    [[nodiscard]] engine::ShortTermMemory memoryOf(const std::string& name) const {
        const auto folder = pair_.folder() / ("memory-" + name);
        std::error_code error;
        std::filesystem::create_directories(folder, error);
        return {folder, folder / "kernel"};
    }

    /// Where `pause` is null, edits are tried on the captured launch.
    Result<engine::Optimization> search(CapturedKernels& kernels, const OpenKernel& open,
                                        const analysis::EditSet& begun, seconds time,
                                        engine::ProgramPause* pause) const {
        engine::OptimizationOptions options = search_.options;
        options.time = time;
        options.measure = search_.measures;
        const auto tell = [&](std::string_view what, double done) {
            tools_.messages.progress(what, (part_.first + done) / part_.all);
        };
        const Snapshot& snapshot = *open.kernel.snapshot;
        // Each search has its own memory: kernels of one code, as instantiations are, have times of
        // their own.
        const engine::ShortTermMemory memory = memoryOf(std::to_string(open.at));
        return kernels.workbench().advisor().optimize({snapshot.program, *open.kernel.kernel},
                                                      options, memory, stop_, tell, tools_.model,
                                                      pause, begun);
    }

    const engine::ProgramPair& pair_;
    /// Which of the searches runs.
    struct Part {
        double first = 0;
        double all = 1;
    };

    const ProgramSearch& search_;
    const SearchTools& tools_;
    const std::stop_token& stop_;
    Part part_;
    std::vector<OptimizedKernel> result_;
    std::vector<FoundText> texts_;
};

} // namespace

Result<SearchedProgram> searchProgram(const engine::ProgramPair& pair,
                                      const engine::ProgramProfile& profile,
                                      const ProgramSearch& search, const SearchTools& tools,
                                      const std::stop_token& stop) {
    return Search(pair, search, tools, stop).run(profile);
}

} // namespace kernelskill::lsp
