#include "engine/repair/hazard_fixes/verification.h"

#include "engine/comparison/hazard_comparison.h"
#include "engine/comparison/output_comparison.h"
#include "engine/comparison/text_difference.h"
#include "engine/execution/buffer_fill.h"
#include "engine/inputs/launch_inference.h"
#include "engine/inputs/launch_sizes.h"
#include "engine/inputs/trial.h"
#include "engine/review/edited_program.h"
#include "engine/review/output_judgement.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace kernelskill::engine {

namespace {

using analysis::SourceText;
using analysis::TextEdit;

/// The seed of profiles, so that the first run repeats the profile's run.
constexpr std::uint64_t seed = 1;
/// Results of larger launches are not compared: smaller ones show differences sooner.
constexpr std::uint64_t maxComparedThreads = 1 << 18;
constexpr double comfortableThreads = 1 << 14;
constexpr std::uint32_t noLine = 0xffffffffu;

/// Maps lines of an edited text to the original; noLine for new ones.
class LineOrigins {
public:
    LineOrigins(const std::string& before, const std::string& after)
        : before_(before), after_(after), edits_(textDifference(before, after)) {
        std::ranges::sort(edits_, {}, &TextEdit::span);
    }

    [[nodiscard]] std::uint32_t of(std::uint32_t line) const {
        const auto begin =
            static_cast<std::int64_t>(after_.lineSpan(line).begin) +
            static_cast<std::int64_t>(after_.indentationAt(after_.lineSpan(line).begin).size());
        std::int64_t shift = 0; // From the original text to the edited one.
        for (const TextEdit& edit : edits_) {
            const std::int64_t from = edit.span.begin + shift;
            if (begin < from)
                break;
            const auto added = static_cast<std::int64_t>(edit.newText.size());
            if (begin < from + added)
                return isIndentation(edit) ? before_.lineColumn(edit.span.begin).line : noLine;
            shift += added - static_cast<std::int64_t>(edit.span.size());
        }
        return before_.lineColumn(static_cast<std::uint32_t>(begin - shift)).line;
    }

private:
    static bool isIndentation(const TextEdit& edit) {
        return edit.newText.find_first_not_of(" \t") == std::string::npos;
    }

    SourceText before_;
    SourceText after_;
    std::vector<TextEdit> edits_;
};

std::vector<Hazard> withOriginalLines(std::vector<Hazard> hazards, const std::string& file,
                                      const LineOrigins& origins) {
    for (Hazard& hazard : hazards) {
        if (hazard.file == file)
            hazard.line = origins.of(hazard.line);
        if (hazard.otherFile == file)
            hazard.otherLine = origins.of(hazard.otherLine);
    }
    return hazards;
}

/// The content of a buffer before the launch; nullopt if unknown.
std::optional<std::vector<std::byte>> initialBytes(const LaunchSpec& launch,
                                                   const std::string& name, std::size_t size) {
    for (const ArgumentSpec& argument : launch.arguments) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer == nullptr || buffer->name != name)
            continue;
        if (buffer->isInput && buffer->element == analysis::ScalarKind::Unknown)
            return std::nullopt;
        std::vector<std::byte> bytes(size);
        fillBuffer(*buffer, bufferSeed(seed, name), 0, bytes);
        return bytes;
    }
    return std::nullopt;
}

/// The first element for which the kernel with the fix stores another value than the kernel
/// without. Elements that the fixed kernel does not change are not compared.
std::optional<std::string> firstChangedElement(const LaunchSpec& launch,
                                               const std::vector<BufferContents>& before,
                                               const std::vector<BufferContents>& after) {
    for (const BufferContents& old : before) {
        const auto now = std::ranges::find(after, old.name, &BufferContents::name);
        if (now == after.end())
            return fmt::format("'{}' is not written any more", old.name);
        const std::size_t size = std::min(old.bytes.size(), now->bytes.size());
        const auto initial = initialBytes(launch, old.name, size);
        const std::size_t step = std::max<std::size_t>(old.elementBytes, 1);
        for (std::size_t at = 0; at + step <= size; at += step) {
            if (std::memcmp(&old.bytes[at], &now->bytes[at], step) == 0)
                continue;
            if (!initial || std::memcmp(&(*initial)[at], &now->bytes[at], step) != 0)
                return fmt::format("element {} of '{}' differs", at / step, old.name);
        }
    }
    return std::nullopt;
}

std::string labelOf(const LaunchSpec& launch) {
    return fmt::format("grid {}x{}x{}, block {}x{}x{}", launch.grid.x, launch.grid.y, launch.grid.z,
                       launch.block.x, launch.block.y, launch.block.z);
}

std::uint64_t threadsOf(const LaunchSpec& launch) {
    return launch.grid.count() * launch.block.count();
}

} // namespace

bool isSameHazard(const Hazard& one, const Hazard& other) {
    const auto place = [](const Hazard& hazard) {
        auto here = std::pair(hazard.file, hazard.line);
        auto there =
            hazard.otherFile.empty() ? here : std::pair(hazard.otherFile, hazard.otherLine);
        return here < there ? std::pair(here, there) : std::pair(there, here);
    };
    return one.kind == other.kind && place(one) == place(other);
}

std::vector<LaunchSpec> launchesToTry(const analysis::FileModel& file,
                                      const analysis::KernelModel& kernel,
                                      const LaunchSpec& shown) {
    std::vector<LaunchSpec> launches{shown};
    const double most = std::min(comfortableThreads, static_cast<double>(threadsOf(shown)));
    for (const double part : {0.37, 0.11}) {
        const double scale = most * part / static_cast<double>(threadsOf(shown));
        auto resized = resizeLaunch(file, kernel, shown, scale, true);
        if (resized && threadsOf(resized->launch) <= maxComparedThreads)
            launches.push_back(std::move(resized->launch));
    }
    return launches;
}

/// Parses texts of one file and keeps the unit, so that only the first parse is a full one.
struct FixVerifier::Parser {
    const ProgramSource& program;
    const analysis::Toolchain& toolchain;
    std::optional<analysis::TranslationUnit> unit;

    Result<std::shared_ptr<const analysis::FileModel>> parse(const std::string& text) {
        if (unit) {
            if (auto again = unit->reparse(text, program.unsaved); !again)
                return std::unexpected(again.error());
        } else {
            auto first = analysis::TranslationUnit::parse(program.file, text, program.command,
                                                          toolchain, program.unsaved);
            if (!first)
                return std::unexpected(first.error());
            unit.emplace(std::move(*first));
        }
        return std::make_shared<const analysis::FileModel>(unit->model());
    }
};

FixVerifier::FixVerifier(Executor& executor, const analysis::Toolchain& toolchain, KernelRef kernel,
                         std::vector<LaunchSpec> launches, std::uint64_t maxBlocks,
                         std::stop_token stop)
    : executor_(executor), kernel_(kernel), launches_(std::move(launches)), maxBlocks_(maxBlocks),
      stop_(std::move(stop)),
      parser_(std::make_unique<Parser>(Parser{kernel.program, toolchain, std::nullopt})) {}

FixVerifier::~FixVerifier() = default;

Result<std::vector<Hazard>> FixVerifier::hazards() {
    const Result<RunResult>& shown = original(0);
    if (!shown)
        return std::unexpected(shown.error());
    return shown->profile.hazards;
}

Result<RunResult> FixVerifier::run(const Image& image, std::size_t launch,
                                   const std::vector<BufferExtent>& extents) const {
    Job job;
    job.launch = extents.empty() ? launches_[launch] : withExtents(launches_[launch], extents);
    job.seed = seed;
    job.wantOutputs = threadsOf(job.launch) <= maxComparedThreads;
    job.wantProfile = !job.wantOutputs; // Such a run stops between blocks when it takes long.
    job.maxBlocks = job.wantOutputs ? std::nullopt : std::optional(maxBlocks_);
    return executor_.run(image, job, stop_);
}

const Result<RunResult>& FixVerifier::original(std::size_t launch) {
    if (auto known = originals_.find(launch); known != originals_.end())
        return known->second;
    Result<RunResult> result = std::unexpected(Error{});
    if (auto image = executor_.build(kernel_, launches_[launch], stop_))
        result = run(**image, launch, {});
    else
        result = std::unexpected(image.error());
    return originals_.emplace(launch, std::move(result)).first->second;
}

const FixTrial& FixVerifier::attempt(const HazardFixDraft& draft) {
    auto text = analysis::applyEdits(kernel_.program.text, draft.edits);
    const std::string key = text ? std::move(*text) : std::string();
    if (auto known = trials_.find(key); known != trials_.end())
        return known->second;
    FixTrial trial;
    if (text)
        trial = judge(draft, key);
    else
        trial.checks.push_back({"applies", false, text.error().describe()});
    return trials_.emplace(key, std::move(trial)).first->second;
}

FixTrial FixVerifier::judge(const HazardFixDraft& draft, const std::string& text) {
    FixTrial trial;
    const auto fail = [&](std::string name, std::string detail) {
        trial.checks.push_back({std::move(name), false, std::move(detail)});
        return std::move(trial);
    };
    ProgramSource candidate = kernel_.program;
    candidate.text = text;
    auto model = parser_->parse(text);
    if (!model)
        return fail("parses", model.error().describe());
    candidate.model = *model;
    if (auto message = firstNewError(*kernel_.program.model, *candidate.model))
        return fail("parses", *message);
    const auto* kernel = analysis::kernelNamed(*candidate.model, kernel_.kernel.qualifiedName);
    if (kernel == nullptr)
        return fail("parses", "the edit leaves no kernel " + kernel_.kernel.qualifiedName);
    const LineOrigins origins(kernel_.program.text, text);
    for (std::size_t launch = 0; launch < launches_.size(); ++launch) {
        const std::string label = labelOf(launches_[launch]);
        const Result<RunResult>& before = original(launch);
        if (!before) {
            if (launch == 0)
                return fail("the original runs", before.error().describe());
            continue;
        }
        auto image = executor_.build({candidate, *kernel}, launches_[launch], stop_);
        if (!image)
            return fail("compiles", image.error().describe());
        auto after = run(**image, launch, before->profile.extents);
        if (!after)
            return fail("runs, " + label, after.error().describe());
        auto left = withOriginalLines(after->profile.hazards, kernel_.program.file, origins);
        for (const Hazard& hazard : left) {
            const bool isOld = std::ranges::any_of(before->profile.hazards, [&](const Hazard& old) {
                return isSameHazard(old, hazard);
            });
            if (!isOld)
                return fail("no new hazard, " + label, describe(hazard));
        }
        trial.checks.push_back({"no new hazard, " + label, true, ""});
        if (auto changed = difference(draft, launch, *before, *after))
            return fail("same result where it was defined, " + label, *changed);
        trial.checks.push_back({"same result where it was defined, " + label, true, ""});
        if (launch == 0)
            trial.hazards = std::move(left);
    }
    trial.isSound = true;
    return trial;
}

/// A change that the fix must not cause. If the original has a hazard, its result is one of several
/// possible ones; then only elements that a guard leaves unchanged can be compared.
std::optional<std::string> FixVerifier::difference(const HazardFixDraft& draft, std::size_t launch,
                                                   const RunResult& before,
                                                   const RunResult& after) const {
    if (before.profile.hazards.empty()) {
        const Closeness closeness = closenessFor(kernel_.kernel, skills::Numerics::Exact);
        const bool isExact = closeness.accuracy.numerics == skills::Numerics::Exact;
        constexpr double reordered = 1e-4;
        const Comparison result =
            compareOutputs(before.outputs, after.outputs, {isExact, isExact ? 0 : reordered});
        return result.agrees ? std::nullopt : std::optional(result.detail);
    }
    const bool isRacy = std::ranges::any_of(before.profile.hazards, [](const Hazard& hazard) {
        return hazard.kind != HazardKind::OutOfBounds;
    });
    if (draft.effect != FixEffect::Skips || isRacy)
        return std::nullopt;
    return firstChangedElement(launches_[launch], before.outputs, after.outputs);
}

} // namespace kernelskill::engine
