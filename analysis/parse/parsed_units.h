/// Parses many texts of a file without reading its headers each time, as candidates of a search
/// are parsed.
#pragma once

#include "analysis/parse/translation_unit.h"

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>

namespace kernelskill::analysis {

/// Keeps some parsed units with the headers that they begin with. Thread-safe: each unit is used by
/// one thread at a time.
class ParsedUnits {
public:
    /// At most `maxIdle` units are kept, those that were used last; each takes some 4 MB and what
    /// its headers take.
    explicit ParsedUnits(std::size_t maxIdle = usualIdle());

    /// As analyzeFile(), with the same result.
    [[nodiscard]] Result<FileModel> analyze(const std::filesystem::path& file, std::string text,
                                            const CompileCommand& command,
                                            const Toolchain& toolchain,
                                            const UnsavedFiles& unsaved);

private:
    /// Texts with the same key can be parsed by one unit.
    struct Key {
        std::string file;
        std::string head; ///< The text up to its last #include.
        CompileCommand command;
        Toolchain toolchain;
        bool operator==(const Key&) const = default;
    };
    struct Idle {
        Key key;
        TranslationUnit unit;
    };

    /// One for each thread that the hardware runs at once.
    [[nodiscard]] static std::size_t usualIdle();
    [[nodiscard]] std::optional<TranslationUnit> take(const Key& key);
    [[nodiscard]] bool isPlain(const Key& key);
    void keep(Key key, TranslationUnit unit);

    const std::size_t maxIdle_;
    std::mutex mutex_;
    std::list<Idle> idle_; ///< The one that was used last comes first.
    /// These texts have no preamble that could be reused: each is parsed by a unit of its own.
    std::list<Key> plain_;
};

} // namespace kernelskill::analysis
