// Plants mistakes into kernels and counts which the Reviewer refuses. See script/bench-gate.
#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "engine/process/child_process.h"
#include "engine/review/reviewer.h"
#include "tests/gate/mutator.h"
#include "tests/gate/review_bench.h"

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <thread>

namespace kernelskill::testing {
namespace {

using namespace engine;

constexpr std::uint64_t reviewSeed = 20261123;

struct Options {
    std::vector<std::string> files;
    ReviewBenchOptions bench;
    std::filesystem::path nvcc; ///< Empty: no mutant can be shown to be equivalent.
    std::filesystem::path details;
    std::set<std::string> operators; ///< Empty: all.
    std::set<std::uint32_t> lines;   ///< Empty: all.
    std::size_t sample = 0;          ///< 0: all mutants.
    std::uint64_t seed = 1;
    std::size_t part = 1; ///< The part of the mutants to judge, from 1 to `parts`.
    std::size_t parts = 1;
};

/// One mutant of one kernel of one file.
struct Case {
    std::size_t program = 0;
    std::size_t kernel = 0;
    Mutant mutant;
};

/// Equivalent: nvcc makes the same PTX of it. Proved: the Reviewer's own prover says so.
enum class Fate : std::uint8_t { Killed, Survived, Equivalent, Proved, Stillborn, NotJudged };
constexpr std::array<std::string_view, 6> fateNames{"killed", "survived",  "equivalent",
                                                    "proved", "stillborn", "not judged"};

struct Judged {
    Fate fate = Fate::NotJudged;
    std::string reason;
    std::string probes; ///< The verdict's list of what varied.
    double seconds = 0;
};

/// PTX without comments and debug lines; empty if it cannot be compiled.
std::string ptxOf(const Options& options, const std::filesystem::path& original,
                  const std::string& text) {
    const auto folder =
        std::filesystem::temp_directory_path() /
        fmt::format("gate-{}", std::hash<std::thread::id>()(std::this_thread::get_id()));
    std::filesystem::create_directories(folder);
    const auto source = folder / original.filename();
    std::ofstream(source) << text;
    const auto target = folder / "out.ptx";
    const auto compiled =
        runChild({options.nvcc,
                  {"-ptx", "-O3", "-std=c++17", "-arch=sm_90", "-w", "--expt-relaxed-constexpr",
                   "-I" + original.parent_path().string(), "-o", target.string(), source.string()},
                  {},
                  std::chrono::seconds(60)},
                 {});
    std::string ptx;
    if (compiled && compiled->status == 0) {
        std::istringstream lines(analysis::readFile(target).value_or(""));
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with("//"))
                ptx += line + "\n";
        }
    }
    std::filesystem::remove_all(folder);
    return ptx;
}

class Bench {
public:
    explicit Bench(Options options) : options_(std::move(options)) {}

    int run();

private:
    bool open(const std::string& path);
    void collect();
    void takeSample();
    void takePart();
    [[nodiscard]] Judged judge(const Case& candidate);
    [[nodiscard]] bool isSameCode(const Case& candidate);
    void work(std::size_t at);
    void print() const;
    /// One line of JSON.
    void writeDetail(std::ostream& details, std::size_t at) const;

    [[nodiscard]] const ProgramSource& program(const Case& candidate) const {
        return programs_[candidate.program];
    }
    [[nodiscard]] const analysis::KernelModel& kernel(const Case& candidate) const {
        return program(candidate).model->kernels[candidate.kernel];
    }

    Options options_;
    ReviewBench bench_;
    std::vector<ProgramSource> programs_;
    std::vector<Case> cases_;
    std::vector<Judged> judged_;
    std::mutex mutex_; ///< For originals_, details_ and the terminal.
    std::ofstream details_;
    std::map<std::size_t, std::string> originals_; ///< PTX by program.
};

bool Bench::open(const std::string& path) {
    auto text = analysis::readFile(path);
    if (!text)
        return false;
    auto program = programOf(path, std::move(*text), bench_.toolchain);
    if (!program)
        return false;
    programs_.push_back(std::move(*program));
    return true;
}

void Bench::collect() {
    for (std::size_t program = 0; program < programs_.size(); ++program) {
        const auto& model = *programs_[program].model;
        for (std::size_t kernel = 0; kernel < model.kernels.size(); ++kernel) {
            if (model.kernels[kernel].file != programs_[program].file)
                continue;
            for (Mutant& mutant :
                 mutantsOf(model, model.kernels[kernel], programs_[program].text)) {
                const auto name = operatorNames[static_cast<std::size_t>(mutant.mutation)];
                const bool isWanted =
                    (options_.operators.empty() ||
                     options_.operators.contains(std::string(name))) &&
                    (options_.lines.empty() || options_.lines.contains(mutant.line));
                if (isWanted)
                    cases_.push_back({program, kernel, std::move(mutant)});
            }
        }
    }
    takeSample();
    takePart();
}

void Bench::takeSample() {
    if (options_.sample == 0 || options_.sample >= cases_.size())
        return;
    // The same number of each operator, as far as there are so many.
    std::mt19937_64 random(options_.seed);
    std::ranges::shuffle(cases_, random);
    std::map<MutationOperator, std::size_t> ranks;
    std::vector<std::pair<std::size_t, std::size_t>> order;
    for (std::size_t i = 0; i < cases_.size(); ++i)
        order.emplace_back(ranks[cases_[i].mutant.mutation]++, i);
    std::ranges::sort(order);
    std::vector<Case> sample;
    for (std::size_t i = 0; i < options_.sample; ++i)
        sample.push_back(std::move(cases_[order[i].second]));
    std::ranges::sort(sample, {}, [](const Case& one) {
        return std::tuple(one.program, one.kernel, one.mutant.line);
    });
    cases_ = std::move(sample);
}

void Bench::takePart() {
    std::vector<Case> part;
    for (std::size_t i = options_.part - 1; i < cases_.size(); i += options_.parts)
        part.push_back(std::move(cases_[i]));
    cases_ = std::move(part);
}

bool Bench::isSameCode(const Case& candidate) {
    if (options_.nvcc.empty())
        return false;
    const ProgramSource& source = program(candidate);
    std::string original;
    {
        const std::scoped_lock lock(mutex_);
        original = originals_[candidate.program];
    }
    if (original.empty()) {
        original = ptxOf(options_, source.file, source.text);
        const std::scoped_lock lock(mutex_);
        originals_[candidate.program] = original;
    }
    const auto edited = analysis::applyEdits(source.text, {candidate.mutant.edit});
    return edited && !original.empty() && candidate.mutant.mutation != MutationOperator::Launch &&
           ptxOf(options_, source.file, *edited) == original;
}

Judged Bench::judge(const Case& candidate) {
    const ProgramSource& source = program(candidate);
    const auto begin = std::chrono::steady_clock::now();
    const auto verdict =
        Reviewer(bench_.executor.get(), bench_.toolchain)
            .review({source, kernel(candidate)}, {{source.file, {candidate.mutant.edit}}},
                    candidate.mutant.edit.span.begin % 2 == 0 ? skills::Numerics::Exact
                                                              : skills::Numerics::Reassociates,
                    {}, {}, {.measure = false, .seed = reviewSeed});
    Judged result;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!verdict) {
        result.reason = verdict.error().describe();
        return result;
    }
    result.reason = verdict->summary;
    for (const engine::Check& check : verdict->checks) {
        if (check.passed && check.name.ends_with(" probes"))
            result.probes = check.detail;
    }
    const bool compiles = std::ranges::any_of(verdict->checks, [](const engine::Check& check) {
        return check.name == "compiles" && check.passed;
    });
    if (verdict->status == VerdictStatus::Unmeasured)
        result.fate = isSameCode(candidate)                       ? Fate::Equivalent
                      : verdict->confidence == Confidence::Proved ? Fate::Proved
                                                                  : Fate::Survived;
    else if (!verdict->isAboutEdit && !verdict->summary.contains("with a guessed launch"))
        result.fate = Fate::NotJudged;
    else
        result.fate = compiles || verdict->status == VerdictStatus::Incorrect ? Fate::Killed
                                                                              : Fate::Stillborn;
    return result;
}

void Bench::work(std::size_t at) {
    judged_[at] = judge(cases_[at]);
    const std::scoped_lock lock(mutex_);
    if (judged_[at].fate == Fate::Survived)
        std::cerr << fmt::format("\r{} of {}   ", at + 1, cases_.size());
    // At once, so that an interrupted survey leaves what it found.
    if (details_.is_open())
        writeDetail(details_, at);
}

void Bench::print() const {
    std::map<std::string, std::array<std::size_t, fateNames.size()>> byOperator;
    std::array<std::size_t, fateNames.size()> all{};
    std::vector<double> seconds;
    std::set<std::pair<std::size_t, std::size_t>> kernels;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
        const auto fate = static_cast<std::size_t>(judged_[i].fate);
        ++byOperator[std::string(
            operatorNames[static_cast<std::size_t>(cases_[i].mutant.mutation)])][fate];
        ++all[fate];
        seconds.push_back(judged_[i].seconds);
        kernels.insert({cases_[i].program, cases_[i].kernel});
    }
    const auto row = [](const std::string& name,
                        const std::array<std::size_t, fateNames.size()>& counts) {
        const double judged = static_cast<double>(counts[0] + counts[1]);
        std::cout << fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:.1f} % |\n", name,
                                 counts[0], counts[1], counts[2], counts[3], counts[4], counts[5],
                                 judged == 0 ? 0 : 100 * static_cast<double>(counts[0]) / judged);
    };
    std::cout << fmt::format("{} mutants of {} kernels of {} files\n\n", cases_.size(),
                             kernels.size(), programs_.size())
              << "| operator | killed | survived | same PTX | proved equal | do not compile | not "
                 "judged | killed "
                 "of those not equivalent |\n|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for (const auto& [name, counts] : byOperator)
        row(name, counts);
    row("all", all);
    std::cout << "\n" << timeOfVerdicts(std::move(seconds)) << "\n\nSurvivors:\n\n";
    for (std::size_t i = 0; i < cases_.size(); ++i) {
        if (judged_[i].fate != Fate::Survived && judged_[i].fate != Fate::NotJudged)
            continue;
        const Case& one = cases_[i];
        std::cout << fmt::format(
            "- {}:{} {} ({}): `{}` -> `{}`{}\n",
            std::filesystem::relative(program(one).file).string(), one.mutant.line,
            kernel(one).name, operatorNames[static_cast<std::size_t>(one.mutant.mutation)],
            one.mutant.before, one.mutant.edit.newText,
            judged_[i].fate == Fate::NotJudged ? ": not judged: " + judged_[i].reason : "");
    }
}

void Bench::writeDetail(std::ostream& details, std::size_t at) const {
    const Case& one = cases_[at];
    const Judged& judged = judged_[at];
    details << nlohmann::json{{"file", std::filesystem::relative(program(one).file).string()},
                              {"kernel", kernel(one).name},
                              {"line", one.mutant.line},
                              {"operator",
                               operatorNames[static_cast<std::size_t>(one.mutant.mutation)]},
                              {"before", one.mutant.before},
                              {"after", one.mutant.edit.newText},
                              {"fate", fateNames[static_cast<std::size_t>(judged.fate)]},
                              {"seconds", judged.seconds},
                              {"reason", judged.reason},
                              {"probes", judged.probes}}
                   .dump()
            << std::endl;
}

int Bench::run() {
    auto bench = openReviewBench(options_.bench);
    if (!bench) {
        std::cerr << bench.error().describe() << "\n";
        return 3;
    }
    bench_ = std::move(*bench);
    for (const std::string& file : options_.files) {
        if (!open(file))
            std::cerr << file << " cannot be read or parsed\n";
    }
    collect();
    if (!options_.details.empty())
        details_.open(options_.details);
    judged_.resize(cases_.size());
    reviewSideBySide(options_.bench.jobs, cases_.size(), [this](std::size_t at) { work(at); });
    print();
    return 0;
}

} // namespace
} // namespace kernelskill::testing

int main(int argc, char** argv) {
    using namespace kernelskill::testing;
    Options options;
    std::vector<std::string> operators;
    std::vector<std::uint32_t> lines;
    CLI::App app{"Plants mistakes into kernels and counts which the Reviewer refuses"};
    app.add_option("files", options.files)->required();
    options.bench.addTo(app);
    app.add_option("--nvcc", options.nvcc);
    app.add_option("--details", options.details);
    app.add_option("--operators", operators)->delimiter(',')->allow_extra_args(false);
    app.add_option("--lines", lines)->delimiter(',')->allow_extra_args(false);
    app.add_option("--sample", options.sample);
    app.add_option("--seed", options.seed);
    app.add_option("--part", options.part)->check(CLI::PositiveNumber);
    app.add_option("--parts", options.parts)->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    if (options.part > options.parts) {
        std::cerr << "--part is at most --parts\n";
        return 2;
    }
    options.operators = {operators.begin(), operators.end()};
    options.lines = {lines.begin(), lines.end()};
    return Bench(std::move(options)).run();
}
