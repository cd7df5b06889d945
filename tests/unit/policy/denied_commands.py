r"""Disguises of a denied command, and lines that only speak of it: data. Nothing here is ever run."""

DENY = ["Bash(rm *)"]

DENIED = [
    *r"""
rm
rm -rf /
rm -rf x y
rm  -rf   x
 rm x
rm x;
ls; rm x
ls;rm x
ls && rm x
ls&&rm x
ls || rm x
ls | rm x
ls |& rm x
ls & rm x
(rm x)
( rm x )
{ rm x; }
! rm x
if true; then rm x; fi
if rm x; then true; fi
while true; do rm x; done
while rm x; do :; done
until rm x; do :; done
for f in a; do rm x; done
case a in a) rm x;; esac
case a in a) rm x ;; esac
f() { rm x; }; f
f () { rm x; }; f
function f { rm x; }; f
echo $(rm x)
$(echo rm >(cat) && true)
`printf rm <(ls); true` x
echo "$(rm x)"
echo `rm x`
echo "`rm x`"
echo "a $(ls; rm x) b"
echo "$(echo "$(rm x)")"
echo $(echo $(rm x))
x=$(rm x)
x=`rm x`
x="$(rm x)" ls
echo ${x:-$(rm x)}
echo $((`rm x`))
cat <(rm x)
ls >(rm x)
diff <(ls) <(rm x)
FOO=1 rm x
FOO=1 BAR='a b' rm x
FOO= rm x
FOO=$(ls) rm x
/bin/rm x
/usr/bin/rm -rf x
./rm x
../bin/rm x
'rm' x
"rm" x
r'm' x
r"m" x
r''m x
r""m x
\rm x
r\m x
$'rm' x
r$'m' x
$"rm" x
"/bin/rm" x
'/bin/'rm x
sudo rm x
sudo -n rm x
sudo -u root rm x
sudo -u root -g root -- rm x
sudo FOO=1 rm x
sudo env FOO=1 rm x
sudo -E env -i nice -n 5 rm x
doas rm x
env rm x
env -i rm x
env -u X rm x
env FOO=1 rm x
env -S 'rm x'
env --split-string='rm x'
env - rm x
env -C / rm x
/usr/bin/env rm x
nohup rm x
nohup rm x &
nice rm x
nice -n 10 rm x
nice -10 rm x
ionice -c 3 rm x
ionice -c3 -n7 rm x
chrt 1 rm x
taskset 1 rm x
timeout 5 rm x
timeout -k 1 5 rm x
timeout --signal=9 5s rm x
timeout -s KILL 5 rm x
time rm x
time -p rm x
/usr/bin/time -v rm x
stdbuf -oL rm x
stdbuf -o L rm x
setsid rm x
setsid -w rm x
unbuffer rm x
script -c 'rm x'
script -qc "rm x" /dev/null
watch rm x
watch -n 1 'rm x'
flock lock rm x
flock lock -c 'rm x'
xargs rm
xargs rm x
ls | xargs rm
ls | xargs -n 1 rm
ls | xargs -I {} rm {}
ls | xargs -I% -P4 rm -f %
find . | xargs -0 rm -f
ls | xargs sh -c 'rm x'
parallel rm ::: x
find . -exec rm {} \;
find . -exec rm {} +
find . -name x -exec rm -f '{}' ';'
find . -execdir rm {} +
find . -ok rm {} \;
find . -exec sh -c 'rm x' \;
find . -exec sudo rm {} \;
fd -x rm
fd x --exec rm
busybox rm x
toybox rm x
command rm x
command -p rm x
builtin command rm x
exec rm x
exec -a y rm x
eval rm x
eval 'rm x'
eval "rm x"
eval 'ls; rm x'
coproc rm x
trap 'rm x' EXIT
trap "ls; rm x" 0
alias x='rm x'
sh -c 'rm x'
sh -c "rm x"
sh -c rm\ x
bash -c 'rm x'
bash -lc 'rm x'
bash -xc 'ls && rm x'
bash -o pipefail -c 'rm x'
bash --norc -c 'rm x'
/bin/sh -c 'rm x'
sh -c 'sh -c "rm x"'
dash -c 'rm x'
zsh -c 'rm x'
ksh -c 'rm x'
sh -c 'sudo rm x'
sh -c 'FOO=1 rm x'
echo 'rm x' | sh
echo "rm x" | bash
printf 'rm x' | sh
echo rm x | sh
sh <<< 'rm x'
bash <<< "rm x"
python -c 'import os; os.system("rm x")'
python3 -c "import os; os.system('rm x')"
python -c "import subprocess; subprocess.run(['rm', 'x'])"
perl -e 'system("rm x")'
perl -e 'exec "rm", "x"'
perl -e '`rm x`'
ruby -e 'system("rm x")'
ruby -e '`rm x`'
node -e 'require("child_process").execSync("rm x")'
php -r 'system("rm x");'
awk 'BEGIN{system("rm x")}'
awk 'BEGIN { print "y" | "rm x" }'
sed '1e rm x' y
vim -c '!rm x'
ssh host rm x
ssh host 'rm x'
ssh -p 22 host 'ls; rm x'
docker exec c rm x
docker run img rm x
kubectl exec p -- rm x
chroot /x rm y
unshare -r rm x
nsenter -t 1 rm x
tmux new -d 'rm x'
screen -dm rm x
npx -c 'rm x'
git rebase -x 'rm x' main
git bisect run rm x
git submodule foreach 'rm x'
git -c alias.z='!rm x' z
make SHELL='rm x'
tar -cf x y --checkpoint-action=exec='rm x'
rm>/dev/null x
>/dev/null rm x
2>&1 rm x
</dev/null rm x
rm x 2>&1
rm x > out
rm ${x}
rm "$x"
rm $(ls)
rm *
rm ~
rm -- -x
rm {a,b}
{rm,x}
{rm,-rf,x}
rm${IFS}x
rm$IFS-rf
rm${IFS}-rf${IFS}x
$EMPTY rm x
${EMPTY}rm x
r${EMPTY}m x
r$()m x
r``m x
r$@m x
rm x # a
rm x #
[ -f x ] && rm x
[[ -f x ]] && rm x
test -f x && rm x || ls
((1)) && rm x
cd x && rm y
cd x; rm y
time { rm x; }
! { rm x; }
echo a; { ls; (rm x); }
ls;;rm x
then rm x
""".strip("\n").split("\n"),
    "ls\nrm x",
    "ls\n\n  rm x",
    "ls \\\n; rm x",
    "rm \\\n x",
    "r\\\nm x",
    "sudo \\\n rm x",
    "ls # c\nrm x",
    "ls\r\nrm x",
    "cat <<E\nx\nE\nrm x",
    "cat <<'E'\nx\nE\nrm x",
    "cat <<-E\nx\n\tE\nrm x",
    "sh <<E\nrm x\nE",
    "sh <<'E'\nls\nrm x\nE",
    "bash -s <<'E'\nrm x\nE",
    "cat <<E\n$(rm x)\nE",
    "cat <<E | sh\nrm x\nE",
    "python - <<'E'\nimport os\nos.system('rm x')\nE",
    "if true\nthen\nrm x\nfi",
    "for f in a\ndo\nrm x\ndone",
    "{\nrm x\n}",
    "f() {\nrm x\n}\nf",
    "echo 'a\nb'; rm x",
    'echo "a\nb"; rm x',
    "echo 'x; rm x",
    'echo "x; rm x',
    "\trm\tx",
    "rm\tx",
    "rm x\n",
    "ls &&\nrm x",
    "ls |\nxargs rm",
    "echo $'\\'' ; rm x",
    "echo \\' ; rm x ; echo \\'",
    'echo "\\"" ; rm x',
    "ls" + " a" * 3000 + "; rm x",
    "ls; " * 4000 + "rm x",
    "echo " + "'x' " * 3000 + "; rm x",
    "rm x" + " " * 20000,
    " " * 20000 + "rm x",
    "echo " + "x" * 100_000 + "; rm x",
    "\n".join(["ls"] * 20_000) + "\nrm x",
    "$(" * 100 + "rm x" + ")" * 100,
    "(" * 200 + "rm x" + ")" * 200,
    "sudo " * 500 + "rm x",
    "env " * 100 + "nice " * 100 + "rm x",
]

SPOKEN = [
    *r"""
ls
echo rm
echo rm x
echo 'rm x'
echo "rm -rf /"
echo "; rm x"
echo '$(rm x)'
grep rm x
grep -rn 'rm -rf' .
git rm x
git rm --cached x
git commit -m 'rm x'
git commit -m "rm -rf x; rm y"
git commit -m 'stop; rm x'
git log --grep='rm x'
docker rm x
npm rm x
cargo rm x
find . -name rm
find . -name 'rm x'
which rm
type rm
man rm
command -v rm
rmdir x
rm-all x
farm x
cat rm
ls /bin/rm
test -x /bin/rm
ls | grep 'rm '
printf '%s' 'rm x'
# rm x
ls # rm x
cat <<< 'rm x'
rg 'rm \w+' src
sed -n '/rm x/p' a
awk '/rm x/' a
jq '.rm' a
pytest -k 'rm and not x'
python script.py rm x
bash script.sh rm
curl https://example.com/rm
""".strip("\n").split("\n"),
    "cat <<'EOF'\nrm x\nEOF",
    "cat <<EOF\nrm x\nEOF",
    "echo 'a\nrm x\nb'",
]
"""Lines that run no `rm`: a deny must not stand in their way."""
