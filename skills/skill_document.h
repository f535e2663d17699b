/// SKILL.md: the part of a skill that people, the planner and language models read.
#pragma once

#include "skills/base/skill.h"
#include "skills/front_matter.h"
#include "skills/lens_titles.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// Parses front matter and prose of a built-in skill, which has every field. InvalidInput with
/// file, line and field when something is wrong.
[[nodiscard]] Result<SkillMetadata> parseSkillDocument(std::string_view text,
                                                       std::string_view path);

/// Reads `<directory>/<id>/SKILL.md` for every sub-folder that has one; a bad file yields its error
/// and the rest load.
struct SkillDocuments {
    std::vector<SkillMetadata> skills;
    LensTitles lensTitles;
    std::vector<Error> errors;
};
[[nodiscard]] SkillDocuments loadSkillDocuments(const std::filesystem::path& directory);

/// Paths of the SKILL.md files one folder down, sorted. An error where the folder cannot be listed.
[[nodiscard]] Result<std::vector<std::filesystem::path>>
documentsIn(const std::filesystem::path& directory);
/// A problem where `name` is not the name of the document's folder, or not one that agent skills
/// may have: lower-case letters, digits and single hyphens, at most 64.
[[nodiscard]] Read<void> requireFolderName(std::string_view name,
                                           const std::filesystem::path& document);
[[nodiscard]] bool isSkillName(std::string_view name);

/// The kinds of bottleneck that a skill may answer: those that a diagnosis knows.
[[nodiscard]] std::span<const std::string_view> bottleneckNames();
/// The field `bottlenecks`; a problem where it names another.
[[nodiscard]] Read<std::vector<std::string>> bottlenecksOf(const FrontMatter& front);

/// The max number of bytes of a lens title, so that it fits into a line of lenses.
inline constexpr std::size_t maxLensTitle = 12;
/// The field `lens`: the edit in two or three words, "pad rows". A problem where it is too long.
[[nodiscard]] Read<std::string> lensTitleOf(const FrontMatter& front);

/// kind, role and numerics by their spelling, and the other way round.
[[nodiscard]] Read<SkillKind> kindOf(const FrontMatter& front);
[[nodiscard]] Read<SkillRole> roleOf(const FrontMatter& front);
[[nodiscard]] Read<Numerics> numericsOf(const FrontMatter& front);
/// The field `error`: functions that the skill's edits bring in, each with its maximum error as a
/// sum of "2 ulp", "2^-22 absolute" and "1e-3 relative", or "documented" for CUDA's own
/// figure. A problem where a term is none of these, where they add up to more than 2^-6, or where
/// the skill does not reduce precision.
[[nodiscard]] Read<StatedError> errorOf(const FrontMatter& front, Numerics numerics);
[[nodiscard]] std::string_view spelling(SkillKind kind);     ///< "source" | "launch" | "library"
[[nodiscard]] std::string_view spelling(SkillRole role);     ///< "answer" | "hygiene"
[[nodiscard]] std::string_view spelling(SkillOrigin origin); ///< "built-in" | "user" | "workspace"
[[nodiscard]] std::string_view
spelling(Numerics numerics); ///< "exact" | "reassociates" | "reduced-precision"

} // namespace kernelskill::skills
