# Makes a table in C++ of facts from the pages of docs/, for `--help` and the manual pages:
#
#   # profiler NAME                  the command
#   first paragraph                  its explanation
#   ## Examples                      rows of the table: | `COMMAND LINE` | purpose |
#   ## Options, ### TITLE            groups of options: | `-s`, `--sort KEY` | … |
#
# README.md gives the groups of commands, from the table under "## Commands".
#
# Usage: awk -f pages.awk README.md docs/*.md

function plain(text) {
  while (match(text, /\[[^]]*\]\([^)]*\)/)) {
    link = substr(text, RSTART, RLENGTH)
    sub(/^\[/, "", link)
    sub(/\]\([^)]*\)$/, "", link)
    text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
  }
  gsub(/`/, "", text)
  gsub(/<\/?kbd>/, "", text)
  gsub(/\\\|/, "|", text)
  return text
}

function quoted(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/"/, "\\\"", text)
  return "\"" text "\""
}

# The first cell of a row of a table, without the spaces around it; `\|` does not end a cell.
function cell(row, number,    i, found, text, c) {
  found = 0
  text = ""
  for (i = 1; i <= length(row); ++i) {
    c = substr(row, i, 1)
    if (c == "\\" && substr(row, i + 1, 1) == "|") {
      text = text "\\|"
      ++i
    } else if (c == "|") {
      if (found == number) break
      ++found
      text = ""
    } else {
      text = text c
    }
  }
  gsub(/^ +| +$/, "", text)
  return text
}

function end_page() {
  if (command == "") return
  print "    {" quoted(command) ", " quoted(explanation) ",\n     {" examples "},\n     {" groups "}},"
  command = ""
}

BEGIN {
  print "#include \"src/cli/usage/command_pages.h\"\n"
  print "namespace profiler::usage {\n"
  print "const std::vector<CommandGroup>& CommandGroups() {"
  print "  static const auto* const groups = new std::vector<CommandGroup>{"
  in_readme = 1
}

FNR == 1 && FILENAME !~ /README/ && in_readme {
  in_readme = 0
  print "  };\n  return *groups;\n}\n"
  print "const std::vector<CommandPage>& CommandPages() {"
  print "  static const auto* const pages = new std::vector<CommandPage>{"
}

in_readme {
  if (/^## /) in_table = /^## Commands/
  if (in_table && /^\| [a-z]/ && !/^\| to \|/) {
    names = ""
    rest = cell($0, 2)
    while (match(rest, /\[`[a-z-]+`\]/)) {
      names = names (names == "" ? "" : ", ") quoted(substr(rest, RSTART + 2, RLENGTH - 4))
      rest = substr(rest, RSTART + RLENGTH)
    }
    print "      {" quoted(cell($0, 1)) ", {" names "}},"
  }
  next
}

FNR == 1 {
  end_page()
  in_code = 0
  section = title = explanation = examples = groups = ""
  is_explained = 0
  if (/^# profiler [a-z-]+/) {
    command = $3
    sub(/:$/, "", command)
  }
  next
}
command == "" { next }
/^```/ { in_code = !in_code; next }
in_code { next }
/^## / { section = substr($0, 4); title = section; next }
/^### / { title = substr($0, 5); next }
section == "" && !is_explained {
  if (/^<!--/) next
  if (/^$/) {
    if (explanation != "") is_explained = 1
    next
  }
  explanation = explanation (explanation == "" ? "" : " ") plain($0)
}
section == "Examples" && /^\| `profiler / {
  examples = examples (examples == "" ? "" : ",\n      ") "{" quoted(plain(cell($0, 1))) ", " \
             quoted(plain(cell($0, 2))) "}"
}
section == "Options" && /^\| `-/ {
  names = ""
  rest = cell($0, 1)
  while (match(rest, /`--?[A-Za-z0-9][A-Za-z0-9-]*/)) {
    names = names (names == "" ? "" : ", ") quoted(substr(rest, RSTART + 1, RLENGTH - 1))
    rest = substr(rest, RSTART + RLENGTH)
  }
  if (title != last_title || groups == "") {
    groups = groups (groups == "" ? "" : ",\n      ") "{" quoted(title) ", {" names "}}"
    last_title = title
  } else {
    sub(/\}\}$/, ", " names "}}", groups)
  }
}

END {
  end_page()
  print "  };\n  return *pages;\n}\n"
  print "const CommandPage* PageOf(std::string_view command) {"
  print "  for (const CommandPage& page : CommandPages()) {"
  print "    if (page.command == command) return &page;"
  print "  }"
  print "  return nullptr;"
  print "}\n\n}  // namespace profiler::usage"
}
