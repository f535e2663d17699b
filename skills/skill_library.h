/// Every skill there is: the built-in ones and those of the user's folders.
#pragma once

#include "skills/base/skill.h"
#include "skills/base/skill_folder.h"
#include "skills/lens_titles.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace kernelskill::skills {

/// A value with one owner, handed to what uses it.
struct SkillLibrary {
    std::vector<std::unique_ptr<Skill>> skills; ///< In the order they are shown.
    /// The documents of the skills, and of methods that nothing carries out by itself.
    std::vector<SkillMetadata> documents;
    std::vector<Error> errors; ///< The errors of documents that are left out.
    LensTitles lensTitles;     ///< Of the built-in skills, and of the user's that state one.
};

/// The catalogue with its documents in `builtIn`, then what is in `folders`, each as
/// `<name>/SKILL.md`. A folder that is not there holds no skill. Of two skills of one name the
/// first counts, and the other is an error.
[[nodiscard]] SkillLibrary loadSkillLibrary(const std::filesystem::path& builtIn,
                                            const std::vector<SkillFolder>& folders);

} // namespace kernelskill::skills
