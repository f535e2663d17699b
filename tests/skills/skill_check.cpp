#include "tests/skills/skill_check.h"

#include "analysis/parse/translation_unit.h"
#include "analysis/source/files.h"
#include "skills/catalogue.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view cursorMark = "$0";

const Toolchain& preludeToolchain() {
    static const Toolchain toolchain = [] {
        auto found = findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
        if (!found) {
            ADD_FAILURE() << found.error().describe();
            return Toolchain{};
        }
        return *found;
    }();
    return toolchain;
}

} // namespace

std::string errorsOf(const FileModel& file) {
    std::string text;
    for (const Diagnostic& diagnostic : file.diagnostics)
        if (diagnostic.severity == Severity::Error)
            text += diagnostic.message + "\n";
    return text;
}

Subject parseSubject(std::string source, std::string_view name) {
    std::vector<std::uint32_t> marks;
    for (auto at = source.find(cursorMark); at != std::string::npos;
         at = source.find(cursorMark, at)) {
        marks.push_back(static_cast<std::uint32_t>(at));
        source.erase(at, cursorMark.size());
    }
    const auto path = std::filesystem::path(paths::sourceFolder) / "examples" / name;
    const CompileCommand command = CompileCommands().inferred(path, paths::sourceFolder);
    auto file = analyzeFile(path, std::move(source), command, preludeToolchain());
    Subject subject;
    if (!file) {
        ADD_FAILURE() << file.error().describe();
        return subject;
    }
    subject.file = std::move(*file);
    if (subject.file.kernels.empty()) {
        ADD_FAILURE() << "no kernel; errors: " << errorsOf(subject.file);
        return subject;
    }
    if (marks.empty()) {
        subject.range = subject.file.kernels[0].span;
    } else {
        subject.range = {marks.front(), marks.back()};
        const auto at = std::ranges::find_if(subject.file.kernels, [&](const KernelModel& kernel) {
            return kernel.span.begin <= marks.front() && marks.front() <= kernel.span.end;
        });
        if (at != subject.file.kernels.end())
            subject.kernel = static_cast<std::size_t>(at - subject.file.kernels.begin());
    }
    subject.features = extractFeatures(subject.file.kernels[subject.kernel]);
    return subject;
}

const Skill& skillNamed(std::string_view id) {
    static const std::vector<std::unique_ptr<Skill>> catalogue = makeCatalogue();
    const auto found =
        std::ranges::find_if(catalogue, [&](const auto& skill) { return skill->id() == id; });
    if (found == catalogue.end())
        throw std::invalid_argument("no such skill");
    return **found;
}

std::string readSource(const std::string& path) {
    const auto text = analysis::readFile(std::string(paths::sourceFolder) + "/" + path);
    EXPECT_TRUE(text) << path;
    return text.value_or("");
}

std::string appliedText(std::string_view id, const std::string& source,
                        const std::optional<CompiledKernel>& compiled) {
    Subject subject = parseSubject(source);
    subject.compiled = compiled;
    if (subject.file.kernels.empty())
        return {};
    const auto offer = skillNamed(id).prepare(subject.context());
    if (!offer) {
        ADD_FAILURE() << "not offered: " << offer.error().gate << ": " << offer.error().reason;
        return {};
    }
    EXPECT_EQ(offer->skillId, id);
    EXPECT_FALSE(offer->title.empty());
    EXPECT_FALSE(offer->why.empty());
    subject.compiled.reset(); // The choice made by it is in the offer.
    const auto edits = skillNamed(id).apply(subject.context(), *offer);
    if (!edits) {
        ADD_FAILURE() << edits.error().describe();
        return {};
    }
    EXPECT_EQ(edits->size(), 1u);
    const auto text = applyEdits(subject.file.source->text(), edits->begin()->second);
    if (!text) {
        ADD_FAILURE() << text.error().describe();
        return {};
    }
    return *text;
}

std::vector<std::string> kernelNamesIn(std::string_view path) {
    std::vector<std::string> names;
    for (const auto& kernel : parseSubject(readSource(std::string(path))).file.kernels)
        names.push_back(kernel.name);
    return names;
}

void checkApplicable(std::string_view id, const std::string& before, const std::string& after,
                     const std::optional<CompiledKernel>& compiled) {
    const std::string text = appliedText(id, before, compiled);
    EXPECT_EQ(text, after);
    if (!text.empty()) {
        EXPECT_EQ(errorsOf(parseSubject(text).file), "");
    }
}

Refusal refusedBy(std::string_view id, const std::string& source,
                  const std::optional<CompiledKernel>& compiled) {
    Subject subject = parseSubject(source);
    subject.compiled = compiled;
    if (subject.file.kernels.empty())
        return {};
    const auto offer = skillNamed(id).prepare(subject.context());
    if (!offer)
        return offer.error();
    ADD_FAILURE() << "offered: " << offer->title << ": " << offer->why;
    return {};
}

void checkNotApplicable(std::string_view id, const std::string& source, std::string_view gate,
                        const std::optional<CompiledKernel>& compiled) {
    const Refusal refusal = refusedBy(id, source, compiled);
    EXPECT_EQ(refusal.gate, gate) << refusal.reason;
    EXPECT_FALSE(refusal.reason.empty());
}

void checkTarget(std::string_view id, const std::string& source, std::string_view target) {
    const Subject subject = parseSubject(source);
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(subject.file.source->slice(offer->anchor), target);
}

Numerics offeredNumerics(std::string_view id, const std::string& source) {
    const Subject subject = parseSubject(source);
    const auto offer = skillNamed(id).prepare(subject.context());
    if (!offer || !offer->numerics) {
        ADD_FAILURE() << "no offer, or one that does not say what it does to results";
        return Numerics::ReducedPrecision;
    }
    return *offer->numerics;
}

StatedError offeredError(std::string_view id, const std::string& source) {
    const Subject subject = parseSubject(source);
    const auto offer = skillNamed(id).prepare(subject.context());
    if (!offer || !offer->error) {
        ADD_FAILURE() << "no offer, or one that states no error";
        return {};
    }
    return *offer->error;
}

} // namespace kernelskill::skills
