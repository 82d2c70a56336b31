# Joins JavaScript modules into one script for a page. Each module becomes a function that returns
# its exports.
#
#   import {a} from './b.js';      const {a} = module_b;
#   export const c = 1;            const c = 1;      … return {c};
#
# A module must come before all modules that import it. Each import must be on one line, without
# renaming.
function end_module() { if (name != "") print "return {" exported "};\n})();" }
FNR == 1 {
  end_module()
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.js$/, "", name)
  exported = ""
  print "const module_" name " = (() => {"
}
/^import / {
  line = $0
  sub(/^import /, "const ", line)
  sub(/ from '\.\//, " = module_", line)
  sub(/\.js';/, ";", line)
  print line
  next
}
/^export / {
  line = substr($0, 8)
  declared = line
  sub(/^async /, "", declared)
  sub(/^(function|const|let|class) /, "", declared)
  sub(/[^A-Za-z0-9_].*/, "", declared)
  exported = exported (exported == "" ? "" : ", ") declared
  print line
  next
}
{ print }
END { end_module() }
