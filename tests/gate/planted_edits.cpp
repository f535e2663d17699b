// Lets the Reviewer judge edits that were planted by hand, and prints by class of mistake which it
// accepts. See script/bench-gate.
#include "analysis/source/diagnostic.h"
#include "engine/review/reviewer.h"
#include "tests/gate/planted_file.h"
#include "tests/gate/review_bench.h"

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::testing {
namespace {

using namespace engine;

struct Options {
    std::vector<std::string> files;
    ReviewBenchOptions bench;
    std::string filter; ///< Only edits with this in their title; empty: all.
    std::uint64_t seed = 7;
};

/// An edit of one kernel.
struct Subject {
    const ProgramSource* program = nullptr;
    const analysis::KernelModel* kernel = nullptr;
    PlantedCase planted;
    std::string title;
};

/// Unrelated: refused, although the verdict says nothing against the edit.
enum class PlantedFate : std::uint8_t { Accepted, Refused, Unrelated, NotJudged };

struct PlantedVerdict {
    PlantedFate fate = PlantedFate::NotJudged;
    std::string summary;
    double seconds = 0;
};

class PlantedBench {
public:
    explicit PlantedBench(Options options) : options_(std::move(options)) {}

    /// False if an edit could not be judged.
    Result<bool> run();

private:
    Result<void> open(const std::string& path);
    Result<void> add(const PlantedProgram& planted, const std::filesystem::path& folder);
    [[nodiscard]] PlantedVerdict judge(const Subject& subject) const;
    void print() const;
    /// Prints the edits of these kinds with that fate, if there are any.
    void printList(std::string_view title, const std::set<PlantedKind>& kinds,
                   PlantedFate fate) const;

    Options options_;
    ReviewBench bench_;
    std::vector<std::unique_ptr<ProgramSource>> programs_;
    std::vector<Subject> subjects_;
    std::vector<PlantedVerdict> verdicts_; ///< Of each subject.
};

Result<void> PlantedBench::open(const std::string& path) {
    const auto programs = readPlanted(path);
    if (!programs)
        return std::unexpected(programs.error());
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    for (const PlantedProgram& planted : *programs)
        if (auto added = add(planted, folder); !added)
            return added;
    return {};
}

Result<void> PlantedBench::add(const PlantedProgram& planted, const std::filesystem::path& folder) {
    auto parsed = programOf(folder / (planted.name + ".cu"), planted.text, bench_.toolchain);
    if (!parsed)
        return std::unexpected(std::move(parsed.error()));
    programs_.push_back(std::make_unique<ProgramSource>(std::move(*parsed)));
    const ProgramSource& program = *programs_.back();
    const auto& diagnostics = program.model->diagnostics;
    const auto wrong =
        std::ranges::find(diagnostics, analysis::Severity::Error, &analysis::Diagnostic::severity);
    if (wrong != diagnostics.end())
        return std::unexpected(Error{.kind = ErrorKind::InvalidInput,
                                     .what = wrong->message,
                                     .where = program.file,
                                     .remedy = "correct the kernel in its planted file"});
    for (const PlantedCase& one : planted.cases) {
        const auto& kernels = program.model->kernels;
        const auto kernel = one.kernel.empty() ? kernels.begin()
                                               : std::ranges::find(kernels, one.kernel,
                                                                   &analysis::KernelModel::name);
        std::string title = fmt::format("{} ({}): {}", planted.name,
                                        one.mistake.empty() ? "right" : one.mistake, one.name);
        if (kernel == kernels.end())
            return std::unexpected(Error{.kind = ErrorKind::InvalidInput,
                                         .what = fmt::format("there is no kernel '{}'", one.kernel),
                                         .where = std::move(title),
                                         .remedy = "name a kernel of the text"});
        if (title.contains(options_.filter))
            subjects_.push_back({&program, &*kernel, one, std::move(title)});
    }
    return {};
}

PlantedVerdict PlantedBench::judge(const Subject& subject) const {
    const auto begin = std::chrono::steady_clock::now();
    const auto verdict =
        Reviewer(bench_.executor.get(), bench_.toolchain)
            .review({*subject.program, *subject.kernel},
                    {{subject.program->file, subject.planted.edits}}, subject.planted.accuracy, {},
                    {}, {.measure = false, .seed = options_.seed});
    PlantedVerdict judged;
    judged.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!verdict) {
        judged.summary = verdict.error().describe();
        return judged;
    }
    judged.summary = verdict->summary;
    judged.fate = verdict->status == VerdictStatus::Unmeasured ? PlantedFate::Accepted
                  : verdict->isAboutEdit                       ? PlantedFate::Refused
                                                               : PlantedFate::Unrelated;
    return judged;
}

void PlantedBench::print() const {
    struct Counts {
        std::size_t planted = 0;
        std::size_t accepted = 0;
    };
    std::map<std::string, Counts> mistakes;
    std::map<PlantedKind, Counts> kinds;
    std::vector<double> seconds;
    const auto count = [](Counts& counts, PlantedFate fate) {
        ++counts.planted;
        counts.accepted += fate == PlantedFate::Accepted ? 1 : 0;
    };
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
        const PlantedCase& planted = subjects_[i].planted;
        if (planted.kind == PlantedKind::Wrong)
            count(mistakes[planted.mistake], verdicts_[i].fate);
        count(kinds[planted.kind], verdicts_[i].fate);
        seconds.push_back(verdicts_[i].seconds);
    }
    const auto row = [](std::string_view name, const Counts& counts) {
        std::cout << fmt::format("| {} | {} | {} |\n", name, counts.planted, counts.accepted);
    };
    std::cout << fmt::format("{} edits, seed {}\n\n", subjects_.size(), options_.seed)
              << "| class | planted | accepted |\n|---|---:|---:|\n";
    for (const auto& [name, counts] : mistakes)
        row(name, counts);
    row("all wrong", kinds[PlantedKind::Wrong]);
    row("meant to be wrong, equal", kinds[PlantedKind::Equal]);
    row("right", kinds[PlantedKind::Right]);
    std::cout << "\n" << timeOfVerdicts(std::move(seconds)) << "\n";

    using enum PlantedKind;
    printList("Wrong and accepted", {Wrong}, PlantedFate::Accepted);
    printList("Wrong and refused, but not because of the edit", {Wrong}, PlantedFate::Unrelated);
    printList("Right or equal and refused", {Right, Equal}, PlantedFate::Refused);
    printList("Right or equal and refused, but not because of the edit", {Right, Equal},
              PlantedFate::Unrelated);
    printList("Not judged", {Wrong, Right, Equal}, PlantedFate::NotJudged);
}

void PlantedBench::printList(std::string_view title, const std::set<PlantedKind>& kinds,
                             PlantedFate fate) const {
    std::string list;
    for (std::size_t i = 0; i < subjects_.size(); ++i)
        if (verdicts_[i].fate == fate && kinds.contains(subjects_[i].planted.kind))
            list += fmt::format("- {}: {}\n", subjects_[i].title, verdicts_[i].summary);
    if (!list.empty())
        std::cout << "\n" << title << ":\n\n" << list;
}

Result<bool> PlantedBench::run() {
    auto bench = openReviewBench(options_.bench);
    if (!bench)
        return std::unexpected(std::move(bench.error()));
    bench_ = std::move(*bench);
    for (const std::string& file : options_.files)
        if (auto opened = open(file); !opened)
            return std::unexpected(std::move(opened.error()));
    if (subjects_.empty())
        return std::unexpected(Error{.kind = ErrorKind::InvalidInput,
                                     .what = "no edit has the filter's text in its title",
                                     .where = options_.filter,
                                     .remedy = "titles are `kernel (class): name`"});
    verdicts_.resize(subjects_.size());
    std::mutex terminal;
    std::size_t judged = 0;
    reviewSideBySide(options_.bench.jobs, subjects_.size(), [&](std::size_t at) {
        verdicts_[at] = judge(subjects_[at]);
        const std::scoped_lock lock(terminal);
        std::cerr << fmt::format("\r{} of {}   ", ++judged, subjects_.size());
    });
    std::cerr << "\n";
    print();
    return std::ranges::find(verdicts_, PlantedFate::NotJudged, &PlantedVerdict::fate) ==
           verdicts_.end();
}

} // namespace
} // namespace kernelskill::testing

int main(int argc, char** argv) {
    using namespace kernelskill::testing;
    Options options;
    CLI::App app{"Lets the Reviewer judge edits planted by hand"};
    app.add_option("files", options.files)->required();
    options.bench.addTo(app);
    app.add_option("--filter", options.filter);
    app.add_option("--seed", options.seed);
    CLI11_PARSE(app, argc, argv);
    const auto judged = PlantedBench(std::move(options)).run();
    if (!judged) {
        std::cerr << judged.error().describe() << "\n";
        return judged.error().kind == kernelskill::ErrorKind::InvalidInput ? 2 : 3;
    }
    return *judged ? 0 : 1;
}
