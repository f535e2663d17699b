/// What share of the edits that the skills make is proved. Every skill is asked at every line of
/// the programs that its precision is measured on; nothing is run. Edits to the skills' own
/// examples, one of each, say nothing of how often users meet them: they are counted apart.
#include "skills/catalogue.h"
#include "tests/engine/proof/proof_subject.h"
#include "tests/samples.h"
#include "tests/skills/compiled_examples.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::Span;

/// Every line of `text`, and the whole of it.
std::vector<Span> cursorsOf(const std::string& text) {
    std::vector<Span> cursors{{0, static_cast<std::uint32_t>(text.size())}};
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        cursors.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
        begin = end + 1;
    }
    return cursors;
}

struct Count {
    int edits = 0;
    int proved = 0;
    double seconds = 0;
    double slowest = 0;
    std::map<std::string, int> reasons;
};
using Counts = std::map<std::string, Count>;

/// What the skill's document says that its edits do to results.
skills::Numerics numericsOf(const std::string& skill) {
    const std::string document = skills::readSource("skills/" + skill + "/SKILL.md");
    return document.contains("\nnumerics: reassociates")        ? skills::Numerics::Reassociates
           : document.contains("\nnumerics: reduced-precision") ? skills::Numerics::ReducedPrecision
                                                                : skills::Numerics::Exact;
}

void countEdits(const std::string& text, const std::string& name,
                const std::vector<const skills::Skill*>& catalogue,
                const std::optional<skills::CompiledKernel>& compiled, Counts& counts) {
    EditedProgram program(text);
    const ProgramSource& before = program.original();
    ASSERT_FALSE(hasErrors(before)) << name;
    for (const analysis::KernelModel& kernel : before.model->kernels) {
        const analysis::Features features = analysis::extractFeatures(kernel);
        std::set<std::tuple<std::string, std::uint32_t, std::uint32_t, int>> seen;
        for (const Span cursor : cursorsOf(text))
            for (const skills::Skill* skill : catalogue) {
                const skills::SkillContext context(*before.model, kernel, features, cursor,
                                                   compiled ? &*compiled : nullptr);
                const auto offer = skill->prepare(context);
                if (!offer || !seen.emplace(offer->skillId, offer->anchor.begin, offer->anchor.end,
                                            offer->option)
                                   .second)
                    continue;
                const auto edits = skill->apply({*before.model, kernel, features, cursor}, *offer);
                if (!edits)
                    continue;
                const auto after = applyEdits(text, edits->begin()->second);
                ASSERT_TRUE(after) << after.error().describe();
                const ProgramSource edited = program.with(*after);
                const auto begin = std::chrono::steady_clock::now();
                const Proof proof = proofOf(before, edited, kernel.qualifiedName,
                                            offer->numerics.value_or(numericsOf(offer->skillId)));
                const std::chrono::duration<double> taken =
                    std::chrono::steady_clock::now() - begin;
                Count& count = counts[offer->skillId];
                ++count.edits;
                count.seconds += taken.count();
                count.slowest = std::max(count.slowest, taken.count());
                count.proved += proof ? 1 : 0;
                if (!proof)
                    ++count.reasons[name + ", " + kernel.name + ": " + proof.error().reason];
                else if (std::getenv("PROOF_DETAILS") != nullptr)
                    ++count.reasons[name + ", " + kernel.name + ": " + proof->sentence()];
            }
    }
}

/// With PROOF_DETAILS set in the environment, each edit is printed with its reason.
void print(const Counts& counts) {
    for (const auto& [skill, count] : counts) {
        std::cout << skill << ": " << count.proved << " of " << count.edits << " proved\n";
        if (std::getenv("PROOF_DETAILS") != nullptr)
            for (const auto& [reason, times] : count.reasons)
                std::cout << "    " << times << " x " << reason << "\n";
    }
}

Count totalOf(const Counts& counts) {
    Count total;
    for (const auto& [skill, count] : counts) {
        total.edits += count.edits;
        total.proved += count.proved;
        total.seconds += count.seconds;
        total.slowest = std::max(total.slowest, count.slowest);
    }
    return total;
}

void printTotal(const std::string& name, const Count& total) {
    std::cout << name << ": " << total.proved << " of " << total.edits << " proved in "
              << total.seconds << " s, the slowest in " << total.slowest << " s\n";
}

TEST(SkillProofs, CoverHalfOfTheEdits) {
    const auto owned = skills::makeCatalogue();
    std::vector<const skills::Skill*> catalogue;
    for (const auto& skill : owned)
        catalogue.push_back(skill.get());
    Counts counts;
    const std::vector<std::string> programs{
        "bit_work",       "copy_loops",    "losses",        "ordering",       "views",
        "streams",        "plain_c",       "dense_algebra", "feature_maps",   "camera_pipeline",
        "weight_updates", "field_solvers", "fir_filters",   "packed_integers"};
    for (const std::string& name : sampleOf(programs, 4))
        countEdits(skills::readSource("tests/precision/" + name + ".cu"), name, catalogue, {},
                   counts);
    for (const char* name : {"reduce", "saxpy", "transpose"})
        countEdits(skills::readSource(std::string("examples/") + name + ".cu"), name, catalogue, {},
                   counts);
    Counts examples;
    for (const skills::Skill* skill : catalogue) {
        const std::string id(skill->id());
        const skills::CompiledExample* example = skills::compiledExample(id);
        countEdits(skills::readSource("skills/" + id + "/before.cu"), id + "/before.cu", {skill},
                   example != nullptr ? std::optional(example->before) : std::nullopt, examples);
    }
    print(counts);
    std::cout << "Skills' own examples:\n";
    print(examples);
    const Count all = totalOf(counts);
    printTotal("programs", all);
    printTotal("skills' own examples", totalOf(examples));
    EXPECT_GE(2 * all.proved, all.edits);
    EXPECT_GT(all.edits, 60);
}

} // namespace
} // namespace kernelskill::engine
