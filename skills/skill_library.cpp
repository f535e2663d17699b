#include "skills/skill_library.h"

#include "analysis/source/files.h"
#include "skills/catalogue.h"
#include "skills/patterns/pattern_skill.h"
#include "skills/skill_document.h"
#include "skills/user_skill.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::skills {

namespace {

void addUserSkill(const std::filesystem::path& path, SkillOrigin origin, SkillLibrary& library) {
    const auto text = analysis::readFile(path);
    if (!text) {
        library.errors.push_back({ErrorKind::InvalidInput, "cannot read", path.string(), ""});
        return;
    }
    auto skill = parseUserSkill(*text, path.string());
    if (!skill) {
        library.errors.push_back(std::move(skill.error()));
        return;
    }
    if (auto named = requireFolderName(skill->metadata.id, path); !named) {
        library.errors.push_back(documentError(path.string(), named.error()));
        return;
    }
    const auto same = std::ranges::find(library.documents, skill->metadata.id, &SkillMetadata::id);
    if (same != library.documents.end()) {
        library.errors.push_back(
            {ErrorKind::InvalidInput,
             fmt::format("there is a skill '{}' already: {}", same->id, same->file), path.string(),
             "give it another name"});
        return;
    }
    if (const auto front = FrontMatter::parse(*text); front && front->has("lens")) {
        auto lens = lensTitleOf(*front);
        if (!lens) {
            library.errors.push_back(documentError(path.string(), lens.error()));
            return;
        }
        library.lensTitles.emplace(skill->metadata.id, std::move(*lens));
    }
    skill->metadata.origin = origin;
    if (!skill->patterns.empty())
        library.skills.push_back(makePatternSkill(skill->metadata.id, skill->metadata.title,
                                                  std::move(skill->patterns)));
    library.documents.push_back(std::move(skill->metadata));
}

} // namespace

SkillLibrary loadSkillLibrary(const std::filesystem::path& builtIn,
                              const std::vector<SkillFolder>& folders) {
    SkillDocuments documents = loadSkillDocuments(builtIn);
    SkillLibrary library{makeCatalogue(), std::move(documents.skills), std::move(documents.errors),
                         std::move(documents.lensTitles)};
    for (const SkillFolder& folder : folders) {
        std::error_code ignored;
        if (!std::filesystem::is_directory(folder.path, ignored))
            continue;
        const auto paths = documentsIn(folder.path);
        if (!paths) {
            library.errors.push_back(paths.error());
            continue;
        }
        for (const std::filesystem::path& path : *paths)
            addUserSkill(path, folder.origin, library);
    }
    return library;
}

} // namespace kernelskill::skills
