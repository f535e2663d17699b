#include "engine/execution/emulator/compile/assembly.h"

#include "analysis/source/trimmed.h"
#include "engine/execution/emulator/compile/predication.h"
#include "engine/execution/emulator/worker/address_space.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace kernelskill::engine {
namespace {

constexpr std::string_view blockHook = "__sanitizer_cov_trace_pc";
constexpr std::string_view foreignBlockHook = "ks_foreign_block";
/// Reports an index beyond an array, by -fsanitize=bounds; and its names in an image.
constexpr std::string_view boundsHook = "__ubsan_handle_out_of_bounds";
constexpr std::string_view localBoundsHook = "ks_beyond_local";
constexpr std::string_view otherBoundsHook = "ks_beyond_other";
/// Reports an access beyond an object by a pointer, by -fsanitize=object-size; and its name.
constexpr std::string_view objectHook = "__ubsan_handle_type_mismatch_v1";
constexpr std::string_view ownObjectHook = "ks_beyond_object";
/// Before the number of a watched condition's outcome, in a comment. See KS_OUTCOME.
constexpr std::string_view outcomeMark = "# ks_outcome ";
static_assert(emulator::variableRoom == 32768);
/// A multiple of every alignment that a variable requires.
constexpr std::string_view guardDirective = "\t.zero\t32768\n";

/// Removes the first word of `text`.
std::string_view takeWord(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) == 0)
        ++end;
    const auto word = text.substr(0, end);
    text = analysis::trimmed(text.substr(end));
    return word;
}

std::optional<unsigned> number(std::string_view word) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size() ? std::optional(value)
                                                                    : std::nullopt;
}

class Annotator {
public:
    Annotator(std::string_view assembly, const AssemblyOptions& options)
        : lines_(assemblyLines(assembly)), predication_(lines_), userMarker_(options.userMarker),
          arithmetic_(arithmeticOf(lines_, options, blockHook)),
          localAccesses_(options.localAccesses) {
        for (const ArithmeticUse& use : arithmetic_)
            labelled_.insert({use.block, use.instruction});
        findChecks();
        result_.reserve(assembly.size() + assembly.size() / 8);
    }

    std::string run() {
        for (std::size_t i = 0; i < lines_.size(); ++i)
            annotate(i);
        endBlock();
        defineAbsent();
        addArithmetic();
        addConditions();
        return std::move(result_);
    }

private:
    /// Finds the labels of code that only reports an access beyond an array.
    void findChecks() {
        std::string_view label;
        for (const AssemblyLine& line : lines_) {
            if (line.word.ends_with(':') && line.rest.empty())
                label = line.word.substr(0, line.word.size() - 1);
            else if ((line.rest.starts_with(boundsHook) || line.rest.starts_with(objectHook)) &&
                     !label.empty())
                checks_.insert(label);
        }
    }

    /// Whether the branch goes to such a report.
    [[nodiscard]] bool isOfCheck(std::string_view operands) const {
        const auto comma = operands.rfind(',');
        return checks_.contains(analysis::trimmed(
            comma == std::string_view::npos ? operands : operands.substr(comma + 1)));
    }

    void annotate(std::size_t index) {
        const auto line = lines_[index].text;
        const auto word = lines_[index].word;
        auto rest = lines_[index].rest;
        const bool isLabel = word.ends_with(':') && rest.empty();
        const auto label = word.substr(0, word.size() - (isLabel ? 1 : 0));
        if (isLabel && !weak_.empty())
            weak_.erase(std::string(label));
        // Room in front of each variable is room behind the one before.
        if (isLabel && inData_ && !label.starts_with(".L"))
            addGuard();
        if (isLabel && inThreadLocal_ && !label.starts_with(".L")) {
            addGuard();
            add(line);
            guarded_ = true;
            return;
        }
        if (word == ".section" || word == ".text" || word == ".data" || word == ".bss")
            section(word == ".section" ? rest : word);
        else if (word == ".file")
            file(rest);
        else if (word == ".loc")
            place(rest);
        else if (word == ".weak" && isPlainName(rest))
            weak_.emplace(rest);
        else if (rest.starts_with(blockHook))
            beginBlock();
        else if (hookAt_ && isBranch(lines_[index]))
            (inUserFile_ && !predication_.isPredicated(index) && !isOfCheck(rest)
                 ? ownBranch_
                 : foreignBranch_) = true;
        if (word == ".cfi_endproc")
            endBlock();
        if (rest.starts_with(blockHook) && hookAt_)
            *hookAt_ = result_.size() + line.find(blockHook);
        if (line.contains(outcomeMark) && noteOutcome(line))
            return;
        const bool isHook = rest.starts_with(blockHook);
        if (!isHook && labelled_.contains(index))
            add(labelOf(index) + ":");
        add(withOwnHook(line));
        if (isHook && labelled_.contains(index))
            add(labelOf(index) + ":");
        if (guarded_ && (word == ".zero" || word == ".skip" || word == ".space")) {
            addGuard();
            guarded_ = false;
        }
    }

    /// Arrays in shared and global memory have checks of their own.
    [[nodiscard]] std::string withOwnHook(std::string_view line) const {
        std::string text(line);
        if (const auto at = text.find(boundsHook); at != std::string::npos)
            text.replace(at, boundsHook.size(),
                         localAccesses_.contains({file_, line_}) ? localBoundsHook
                                                                 : otherBoundsHook);
        else if (const auto object = text.find(objectHook); object != std::string::npos)
            text.replace(object, objectHook.size(), ownObjectHook);
        return text;
    }

    void add(std::string_view line) { result_.append(line).push_back('\n'); }

    void addGuard() { result_.append(guardDirective); }

    void section(std::string_view name) {
        inThreadLocal_ = name.starts_with(".tbss") || name.starts_with(".tdata");
        const std::string_view section = name.substr(0, name.find(','));
        inData_ = section == ".bss" || section == ".data" || section.starts_with(".bss.") ||
                  (section.starts_with(".data.") && !section.starts_with(".data.rel"));
        guarded_ = false;
    }

    /// Reads .file 3 "/folder" "name" or .file 3 "/folder/name".
    void file(std::string_view rest) {
        const auto index = number(takeWord(rest));
        if (!index || rest.find(userMarker_) == std::string_view::npos)
            return;
        std::string path;
        for (bool isQuoted = false; const char c : rest) {
            isQuoted ^= c == '"';
            if (c == '"' && isQuoted && !path.empty())
                path += '/';
            else if (c != '"' && isQuoted)
                path += c;
        }
        userFiles_[*index] = path.substr(path.find(userMarker_) + userMarker_.size());
    }

    /// Reads .loc 3 17 5.
    void place(std::string_view rest) {
        const auto file = userFiles_.find(number(takeWord(rest)).value_or(0));
        inUserFile_ = file != userFiles_.end();
        file_ = inUserFile_ ? file->second : std::string{};
        line_ = number(takeWord(rest)).value_or(0);
    }

    /// A label before an instruction, after a hook: the worker identifies a block by the hook's
    /// return address.
    static std::string labelOf(std::size_t line) { return ".Lks_line" + std::to_string(line); }

    /// Adds the table, see ArithmeticTable.
    void addArithmetic() {
        if (arithmetic_.empty())
            return;
        std::string entries;
        for (const ArithmeticUse& use : arithmetic_) {
            const auto counter = static_cast<unsigned>(use.counter) -
                                 static_cast<unsigned>(emulator::firstArithmetic);
            entries += "\t.long\t" + labelOf(use.block) + " - .Lks_arithmetic, " +
                       labelOf(use.instruction) + " - .Lks_arithmetic, " + std::to_string(counter) +
                       ", " + std::to_string(use.count) + "\n";
        }
        result_ += "\t.section\t.rodata\n\t.p2align\t3\n\t.globl\tks_arithmetic\n"
                   "\t.type\tks_arithmetic, %object\nks_arithmetic:\n.Lks_arithmetic:\n\t.long\t" +
                   std::to_string(emulator::arithmeticVersion) + ", " +
                   std::to_string(arithmetic_.size()) + "\n" + entries;
    }

    /// Writes the code that notes an outcome in place of its mark. Changes no flags and no register
    /// but those that the mark's assembly clobbers.
    bool noteOutcome(std::string_view line) {
        auto text = line.substr(line.find(outcomeMark) + outcomeMark.size());
        const auto outcome = number(takeWord(text));
        if (!outcome || *outcome >= emulator::maxOutcomes)
            return false;
        outcomes_.insert(*outcome);
        const std::string at = std::to_string(*outcome);
#if defined(__aarch64__)
        add("\tadrp\tx16, .Lks_outcomes");
        add("\tadd\tx16, x16, :lo12:.Lks_outcomes");
        add("\tmov\tw17, #1");
        add("\tstrb\tw17, [x16, #" + at + "]");
#else
        add("\tmovb\t$1, .Lks_outcomes+" + at + "(%rip)");
#endif
        return true;
    }

    /// Adds the table, see ConditionTable.
    void addConditions() {
        if (outcomes_.empty())
            return;
        std::string numbers;
        for (const unsigned outcome : outcomes_)
            numbers += ", " + std::to_string(outcome);
        result_ += "\t.data\n\t.p2align\t3\n\t.globl\tks_conditions\n"
                   "\t.type\tks_conditions, %object\nks_conditions:\n\t.long\t" +
                   std::to_string(emulator::conditionVersion) + ", " +
                   std::to_string(outcomes_.size()) + numbers + "\n.Lks_outcomes:\n\t.zero\t" +
                   std::to_string(emulator::maxOutcomes) + "\n";
    }

    /// Whether a name is a plain C name that only a library defines.
    static bool isPlainName(std::string_view name) {
        return !name.empty() && name.front() != '_' && name.front() != '.';
    }

    /// Uses a jump, not a call, so that the reported place is the caller.
    void defineAbsent() {
        for (const std::string& name : weak_) {
            const std::string what =
                name.starts_with("cuda")
                    ? name + "() in device code, the device runtime of dynamic parallelism"
                    : name + "() in device code";
            result_ += "\t.section\t.rodata\n.Lks_" + name + ":\n\t.string\t\"" + what +
                       "\"\n\t.text\n\t.p2align\t2\n\t.type\t" + name + ", %function\n" + name +
                       ":\n" + refusal(".Lks_" + name);
        }
    }

    static std::string refusal([[maybe_unused]] const std::string& text) {
#if defined(__aarch64__)
        return "\tadrp\tx0, " + text + "\n\tadd\tx0, x0, :lo12:" + text + "\n\tb\tks_refuse\n";
#else
        return "\tleaq\t" + text + "(%rip), %rdi\n\tjmp\tks_refuse@PLT\n";
#endif
    }

    void beginBlock() {
        endBlock();
        hookAt_ = result_.size();
    }

    /// A block without a branch has one target.
    void endBlock() {
        if (hookAt_ && foreignBranch_ && !ownBranch_)
            result_.replace(*hookAt_, blockHook.size(), foreignBlockHook);
        hookAt_.reset();
        ownBranch_ = foreignBranch_ = false;
    }

    std::vector<AssemblyLine> lines_;
    Predication predication_;
    std::string_view userMarker_;
    std::vector<ArithmeticUse> arithmetic_;
    std::set<std::size_t> labelled_; ///< The lines that the table names.
    std::string result_;
    const FileLines& localAccesses_;
    std::map<unsigned, std::string> userFiles_; ///< Their paths.
    std::string file_;                          ///< Of the user, or empty.
    std::uint32_t line_ = 0;
    std::set<std::string_view> checks_; ///< Labels.
    std::set<unsigned> outcomes_;       ///< Marks of watched conditions that the compiler kept.
    std::set<std::string> weak_;        ///< Names of functions that have no label yet.
    bool inUserFile_ = false;
    bool inThreadLocal_ = false;
    bool inData_ = false;
    bool guarded_ = false; ///< After the label of a variable and before its bytes.
    /// The position of the current block's hook name in the result.
    std::optional<std::size_t> hookAt_;
    bool ownBranch_ = false;
    bool foreignBranch_ = false;
};

} // namespace

std::string annotateAssembly(std::string_view assembly, const AssemblyOptions& options) {
    return Annotator(assembly, options).run();
}

} // namespace kernelskill::engine
