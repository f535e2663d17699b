/// Puts one mistake at a time into the repository's own kernels, repairs the file and says, by kind
/// of mistake, how often it then compiles and does what it did. script/bench-repair runs it.
#include "analysis/source/files.h"
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/repair/compile_diagnoser.h"
#include "tests/engine/repair/benchmark/judgement.h"
#include "tests/engine/repair/benchmark/mutation.h"
#include "tests/image_cache.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kernelskill::testing {
namespace {

namespace fs = std::filesystem;
using engine::ProgramSource;

/// A mistake that the compiler does not see at one place is tried at so many others.
constexpr std::size_t maxPlaces = 8;

struct Settings {
    std::string kind;       ///< Only kinds that contain this text.
    std::string nvcc;       ///< Path; compiles what was repaired to another text than the original.
    std::size_t files = 20; ///< The maximum for each kind.
    bool isVerbose = false;
};

struct Outcome {
    std::string_view kind;
    std::string file;
    std::size_t order = 0; ///< Among the files of its kind.
    bool compiles = false;
    bool isWorse = false;
    Judgement judgement;
    std::string story; ///< Errors and what was done about them.
    std::string diff;  ///< From the original to the repaired text.
};

bool isRestored(const Outcome& outcome) {
    return outcome.compiles && (outcome.judgement.meaning == Meaning::SameText ||
                                outcome.judgement.meaning == Meaning::SameEffect);
}

/// A line for each file: a long run is watched by it.
void report(const Outcome& outcome) {
    fmt::print(stderr, "{}\t{}\t{}\t{}\n", outcome.kind, outcome.file,
               outcome.compiles ? "compiles" : "broken",
               isRestored(outcome) ? "restored" : "not restored");
}

/// The mutations that were not restored, and why.
void describe(const Outcome& outcome) {
    if (!isRestored(outcome) || outcome.isWorse)
        fmt::print(stderr, "\n{}: {}: {}{}\n{}{}", outcome.kind, outcome.file,
                   outcome.compiles ? "compiles, " : "does not compile", outcome.judgement.reason,
                   outcome.story, outcome.diff);
}

std::uint64_t hashOf(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned char letter : text)
        hash = (hash ^ letter) * 0x100000001b3u;
    return hash;
}

class Benchmark {
public:
    explicit Benchmark(Settings settings) : settings_(std::move(settings)) {}

    bool open() {
        auto toolchain = analysis::findToolchain({.cudaPath = {}, .ignoreToolkit = true});
        if (!toolchain) {
            fmt::print(stderr, "{}\n", toolchain.error().describe());
            return false;
        }
        toolchain_ = std::move(*toolchain);
        engine::EmulatorOptions options;
        options.workerExecutable = paths::testWorker;
        options.cacheDirectory = imageCache();
        auto executor = engine::makeEmulatorExecutor(std::move(options), toolchain_);
        if (!executor) {
            fmt::print(stderr, "{}\n", executor.error().describe());
            return false;
        }
        executor_ = std::move(*executor);
        readPrograms();
        return true;
    }

    std::vector<Outcome> run() {
        plan();
        std::vector<std::thread> threads;
        std::atomic<std::size_t> next = 0;
        for (unsigned number = 0; number < std::max(1u, std::thread::hardware_concurrency());
             ++number)
            threads.emplace_back([&] {
                for (std::size_t which = next++; which < programs_.size(); which = next++)
                    runProgram(which);
            });
        for (std::thread& thread : threads)
            thread.join();
        // In the order of their kinds; within a kind, in their random order.
        std::ranges::stable_sort(outcomes_, {},
                                 [](const Outcome& one) { return std::pair(one.kind, one.order); });
        std::vector<Outcome> kept;
        std::map<std::string_view, std::size_t> counts;
        for (Outcome& outcome : outcomes_)
            if (counts[outcome.kind]++ < settings_.files)
                kept.push_back(std::move(outcome));
        if (settings_.isVerbose)
            std::ranges::for_each(kept, describe);
        return kept;
    }

private:
    /// Every .cu file of the corpus, the examples and the skills that compiles.
    void readPrograms() {
        std::set<fs::path> paths;
        const fs::path root = paths::sourceFolder;
        for (const auto* folder : {"tests/corpus", "examples", "skills", "tests/accuracy"})
            for (const auto& entry : fs::recursive_directory_iterator(root / folder))
                if (entry.path().extension() == ".cu" && entry.path().filename() != "after.cu")
                    paths.insert(fs::relative(entry.path(), root));
        for (const fs::path& path : paths) {
            ProgramSource program =
                parsed(path.string(), analysis::readFile(root / path).value_or(""));
            if (program.model && engine::compileErrors(*program.model).empty() &&
                !program.model->kernels.empty())
                programs_.push_back(std::move(program));
        }
    }

    [[nodiscard]] ProgramSource parsed(const std::string& path, std::string text) const {
        ProgramSource program;
        const fs::path file = fs::path(paths::sourceFolder) / path;
        program.file = file.string();
        program.text = std::move(text);
        program.command = analysis::CompileCommands().inferred(file, fs::path(paths::sourceFolder));
        program.command.architectures = {"sm_90"};
        auto model = analysis::analyzeFile(file, program.text, program.command, toolchain_);
        if (model)
            program.model = std::make_shared<analysis::FileModel>(std::move(*model));
        return program;
    }

    [[nodiscard]] static std::string nameOf(const ProgramSource& program) {
        return fs::relative(program.file, paths::sourceFolder).string();
    }

    [[nodiscard]] static Subject subjectOf(const ProgramSource& program) {
        return {*program.model, program.text, analysis::lex(program.text)};
    }

    /// Which mistakes are put into which file. Each kind takes the files in an order of its own, so
    /// that all are used; it takes some more than it needs, for where the parser sees no mistake.
    void plan() {
        const std::size_t most = settings_.files + settings_.files / 4;
        tasks_.resize(programs_.size());
        for (const Mutation& mutation : mutations_) {
            if (mutation.kind.find(settings_.kind) == std::string_view::npos)
                continue;
            std::vector<std::pair<std::uint64_t, std::size_t>> order;
            for (std::size_t which = 0; which < programs_.size(); ++which)
                order.emplace_back(
                    hashOf(fmt::format("{} {}", mutation.kind, nameOf(programs_[which]))), which);
            std::ranges::sort(order);
            std::size_t taken = 0;
            for (const auto& [hash, which] : order)
                if (taken < most && !mutation.places(subjectOf(programs_[which])).empty())
                    tasks_[which].push_back({&mutation, taken++});
        }
    }

    void runProgram(std::size_t which) {
        const ProgramSource& original = programs_[which];
        auto unit = analysis::TranslationUnit::parse(original.file, original.text, original.command,
                                                     toolchain_);
        if (!unit)
            return;
        for (const auto& [mutation, order] : tasks_[which])
            if (auto outcome = runFile(*mutation, original, *unit)) {
                outcome->order = order;
                const std::lock_guard lock(mutex_);
                report(*outcome);
                outcomes_.push_back(std::move(*outcome));
            }
    }

    /// nullopt where the mistake cannot be made, or is none.
    std::optional<Outcome> runFile(const Mutation& mutation, const ProgramSource& original,
                                   analysis::TranslationUnit& unit) {
        const std::vector<Breakage> places = mutation.places(subjectOf(original));
        const std::uint64_t first = hashOf(nameOf(original) + std::string(mutation.kind));
        for (std::size_t place = 0; place < std::min(places.size(), maxPlaces); ++place) {
            auto text =
                analysis::applyEdits(original.text, places[(first + place) % places.size()]);
            if (!text)
                continue;
            const ProgramSource broken = withText(original, std::move(*text), unit);
            if (broken.model && !engine::compileErrors(*broken.model).empty())
                return repaired(mutation, original, broken, unit);
        }
        return std::nullopt;
    }

    [[nodiscard]] static ProgramSource withText(const ProgramSource& original, std::string text,
                                                analysis::TranslationUnit& unit) {
        ProgramSource program = original;
        program.text = std::move(text);
        program.model = nullptr;
        if (unit.reparse(program.text))
            program.model = std::make_shared<analysis::FileModel>(unit.model());
        return program;
    }

    Outcome repaired(const Mutation& mutation, const ProgramSource& original,
                     const ProgramSource& broken, analysis::TranslationUnit& unit) {
        Outcome outcome;
        outcome.kind = mutation.kind;
        outcome.file = nameOf(original);
        for (const analysis::Diagnostic& error : engine::compileErrors(*broken.model))
            outcome.story += fmt::format("  error: {}\n", error.message);
        const engine::Repair repair =
            engine::repairFile(*broken.model, broken.command, toolchain_, {});
        for (const engine::CompileFix& fix : repair.applied)
            outcome.story += fmt::format("  fix: {}\n", fix.title);
        const ProgramSource result = withText(original, repair.text, unit);
        outcome.diff = analysis::unifiedDiff(outcome.file, original.text, repair.text);
        outcome.isWorse = repair.errorsAfter > repair.errorsBefore;
        outcome.compiles = result.model && engine::compileErrors(*result.model).empty();
        if (!outcome.compiles)
            return outcome;
        const engine::Reviewer reviewer(executor_.get(), toolchain_);
        outcome.judgement = judge(original, result, reviewer);
        outcome.isWorse |= outcome.judgement.meaning == Meaning::Hazardous;
        if (!settings_.nvcc.empty() && outcome.judgement.meaning != Meaning::SameText &&
            !nvccCompiles(result)) {
            outcome.isWorse = true;
            outcome.judgement.reason += " (nvcc rejects it)";
        }
        return outcome;
    }

    [[nodiscard]] bool nvccCompiles(const ProgramSource& program) const {
        const TemporaryFolder folder;
        const fs::path file = folder.path() / "repaired.cu";
        std::ofstream(file) << program.text;
        const std::string command = fmt::format(
            "'{}' -std=c++17 -arch=sm_90 -I '{}' -c -o '{}' '{}' >'{}' 2>&1", settings_.nvcc,
            fs::path(program.file).parent_path().string(), (folder.path() / "repaired.o").string(),
            file.string(), (folder.path() / "log").string());
        return std::system(command.c_str()) == 0;
    }

    Settings settings_;
    analysis::Toolchain toolchain_;
    std::unique_ptr<engine::Executor> executor_;
    std::vector<ProgramSource> programs_;
    struct Task {
        const Mutation* mutation = nullptr;
        std::size_t order = 0;
    };
    std::vector<std::vector<Task>> tasks_; ///< The tasks of each program.
    const std::vector<Mutation> mutations_ = allMutations();
    std::mutex mutex_;
    std::vector<Outcome> outcomes_;
};

struct Row {
    std::size_t broken = 0;
    std::size_t compiles = 0;
    std::size_t sameText = 0;
    std::size_t sameEffect = 0;
    std::size_t different = 0;
    std::size_t unknown = 0;
    std::size_t worse = 0;

    void add(const Outcome& outcome) {
        ++broken;
        worse += outcome.isWorse ? 1 : 0;
        if (!outcome.compiles)
            return;
        ++compiles;
        const Meaning meaning = outcome.judgement.meaning;
        sameText += meaning == Meaning::SameText ? 1 : 0;
        sameEffect += meaning == Meaning::SameEffect ? 1 : 0;
        different += meaning == Meaning::Different || meaning == Meaning::Hazardous ? 1 : 0;
        unknown += meaning == Meaning::Unknown ? 1 : 0;
    }
};

void print(std::string_view kind, const Row& row) {
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} |\n", kind, row.broken, row.compiles,
               row.sameText + row.sameEffect, row.sameEffect, row.different, row.unknown,
               row.worse);
}

void print(const std::vector<Outcome>& outcomes) {
    Row total;
    std::map<std::string_view, Row> rows;
    for (const Outcome& outcome : outcomes) {
        total.add(outcome);
        rows[outcome.kind].add(outcome);
    }
    fmt::print("| mistake | files | compile again | restored | of these with another text | "
               "do something else | not judged | worse |\n"
               "|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const Mutation& mutation : allMutations())
        if (rows.contains(mutation.kind))
            print(mutation.kind, rows[mutation.kind]);
    print("**all**", total);
    if (total.broken > 0)
        fmt::print("\n{} kinds, {} files broken: {:.1f} % compile again, {:.1f} % are restored, {} "
                   "worse.\n",
                   rows.size(), total.broken,
                   100.0 * static_cast<double>(total.compiles) / static_cast<double>(total.broken),
                   100.0 * static_cast<double>(total.sameText + total.sameEffect) /
                       static_cast<double>(total.broken),
                   total.worse);
}

} // namespace
} // namespace kernelskill::testing

int main(int count, char** values) {
    using namespace kernelskill::testing;
    Settings settings;
    const std::span<char*> arguments(values, static_cast<std::size_t>(count));
    for (std::size_t index = 1; index < arguments.size(); ++index) {
        const std::string_view argument = arguments[index];
        bool hasValue = index + 1 < arguments.size();
        if (argument == "--verbose") {
            settings.isVerbose = true;
        } else if (argument == "--kind" && hasValue) {
            settings.kind = arguments[++index];
        } else if (argument == "--files" && hasValue) {
            settings.files =
                static_cast<std::size_t>(std::strtoul(arguments[++index], nullptr, 10));
        } else if (argument == "--nvcc" && hasValue) {
            settings.nvcc = arguments[++index];
        } else {
            fmt::print(
                stderr,
                "usage: repair_benchmark [--verbose] [--kind TEXT] [--files N] [--nvcc PATH]\n");
            return 2;
        }
    }
    Benchmark benchmark(settings);
    if (!benchmark.open())
        return 3;
    print(benchmark.run());
    return 0;
}
