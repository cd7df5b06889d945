"""Wide tables of web addresses: which may be fetched, which lead elsewhere, hop by hop and by configuration."""

import pytest

from tests.support.tables import each_row
from workbench.cli.check import check_url

DNS = {'example.com': ['93.184.216.34'],
 'a.example.com': ['93.184.216.34'],
 'evil.com': ['93.184.216.34'],
 'münchen.de': ['93.184.216.34'],
 'xn--mnchen-3ya.de': ['93.184.216.34'],
 'priv.com': ['10.0.0.1'],
 'both.com': ['93.184.216.34', '127.0.0.1'],
 'rebind.com': [['93.184.216.34'], ['169.254.169.254']],
 'v6.com': ['2606:2800:220:1:248:1893:25c8:1946'],
 'loc.com': ['127.0.0.1'],
 'six.com': ['::1'],
 'map.com': ['::ffff:10.0.0.1'],
 'nat64.com': ['64:ff9b::a00:1'],
 'nat64l.com': ['64:ff9b:1::a00:1'],
 '6to4.com': ['2002:a00:1::'],
 'teredo.com': ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
 'ula.com': ['fd00::1'],
 'll.com': ['fe80::1'],
 'mc.com': ['224.0.0.1'],
 'cgn.com': ['100.64.0.1'],
 'doc.com': ['192.0.2.1'],
 'zero.com': ['0.0.0.0'],
 'bc.com': ['255.255.255.255'],
 'bench.com': ['198.18.0.1'],
 'meta.com': ['169.254.169.254'],
 'empty.com': [],
 'bad.com': ['notanip'],
 'cls.com': ['240.0.0.1'],
 'compat.com': ['::10.0.0.1'],
 'isatap.com': ['2606:2800::5efe:a00:1'],
 'doc6.com': ['2001:db8::1'],
 'site.com': ['fec0::1'],
 'mc6.com': ['ff02::1'],
 'disc.com': ['100::1'],
 'srv6.com': ['5f00::1'],
 'orch.com': ['2001:20::1'],
 '172.com': ['172.16.5.5'],
 '172pub.com': ['172.32.0.1'],
 '192.com': ['192.168.1.1'],
 'ietf.com': ['192.0.0.1'],
 'scoped.com': ['fe80::1%eth0'],
 'localhost': ['127.0.0.1'],
 'metadata.google.internal': ['169.254.169.254']}  # fmt: skip
"""What names lead to; a list of lists is what later answers say."""

ALLOWED = ['https://example.com', 'http://example.com/', 'https://example.com:8443/x?y=z#f',
 'HTTPS://EXAMPLE.COM/', 'https://example.com./', 'https://a.example.com/a%20b', 'http://93.184.216.34/',
 'http://[2606:2800:220:1:248:1893:25c8:1946]/', 'https://v6.com', 'https://172pub.com',
 'https://example.com:1/', 'https://example.com:65535/', 'https://example.com/@x',
 'https://example.com/?u=a@b', 'https://example.com/a:b', 'https://example.com?x',
 'https://example.com#y', 'https://münchen.de/', 'https://xn--mnchen-3ya.de/',
 'https://example.com//double', 'https://example.com/%2e%2e/x',
 'https://example.com/?q=http://127.0.0.1/', 'https://example.com:443/', 'http://8.8.8.8/',
 'https://example.com/path;a=b?c=d&e=f', 'https://example.com/漢']  # fmt: skip

DENIED = ['ftp://example.com', 'file:///etc/passwd', 'gopher://x', 'javascript:alert(1)', 'data:text/html,x',
 '//example.com/', 'example.com', '/x', '', 'http://', 'http:///x', 'https://u@example.com',
 'https://u:p@example.com', 'https://@example.com', 'https://:@example.com/', 'https://example.com:0/',
 'https://example.com:65536/', 'https://example.com:-1/', 'https://example.com:abc/',
 'https://example.com:99999', 'http://127.0.0.1', 'http://127.1', 'http://0x7f.1', 'http://0x7f000001',
 'http://2130706433', 'http://017700000001', 'http://0177.0.0.1', 'http://127.0.0.1.', 'http://[::1]',
 'http://[::]', 'http://0.0.0.0', 'http://0', 'http://[::ffff:127.0.0.1]', 'http://[::ffff:7f00:1]',
 'http://localhost', 'http://LOCALHOST', 'http://localhost.', 'http://foo.localhost',
 'http://169.254.169.254/latest/meta-data', 'http://[fd00:ec2::254]', 'http://metadata.google.internal',
 'http://10.0.0.1', 'http://192.168.0.1', 'http://172.16.0.1', 'http://172.31.255.255',
 'http://100.64.0.1', 'http://[fe80::1]', 'http://[fe80::1%25eth0]', 'http://[fc00::1]',
 'http://224.0.0.1', 'http://255.255.255.255', 'http://priv.com', 'http://both.com', 'http://rebind.com',
 'http://loc.com', 'http://six.com', 'http://map.com', 'http://nat64.com', 'http://nat64l.com',
 'http://6to4.com', 'http://teredo.com', 'http://ula.com', 'http://ll.com', 'http://mc.com',
 'http://cgn.com', 'http://doc.com', 'http://zero.com', 'http://bc.com', 'http://bench.com',
 'http://meta.com', 'http://empty.com', 'http://bad.com', 'http://cls.com', 'http://compat.com',
 'http://doc6.com', 'http://site.com', 'http://mc6.com', 'http://disc.com', 'http://172.com',
 'http://192.com', 'http://ietf.com', 'http://scoped.com', 'http://unknown.com',
 'http://example.com\\@127.0.0.1/', 'http://127.0.0.1\\@example.com/', 'http://exa mple.com',
 'http://example.com\t/', 'http://example.com\n/', ' http://example.com', 'http://example.com\x00',
 'http://example%2ecom', 'http://１２７.０.０.１', 'http://127。0。0。1', 'http://①②⑦.⓪.⓪.①',
 'http://example.com:80:80/', 'http://[::1', 'http://::1/', 'http://[127.0.0.1]/',
 'http://1.1.1.1@127.0.0.1', 'http://127.0.0.1:80@example.com/', 'http:example.com', 'http:/example.com',
 'http:\\\\example.com', 'https:///example.com', 'http://.example.com', 'http://example..com',
 'http://..',
 'http://abbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.com',
 'http://0127.0.0.1', 'http://127.0.0.01', 'http://1.2.3', 'http://1.2.3.4.5', 'http://256.1.1.1',
 'http://0x7f.0x0.0x0.0x1', 'http://[::127.0.0.1]', 'http://[64:ff9b::7f00:1]', 'http://[2002:7f00:1::]',
 'http://user%40example.com@127.0.0.1', 'view-source:http://x', 'blob:http://x', 'ws://example.com',
 'HTTP://127.0.0.1', 'http://127.127.127.127', 'http://\u202eexample.com', 'http://exam\xadple.com',
 'http://127.0.0.1#.example.com', 'http://127.0.0.1?.example.com', 'http://127.0.0.1/.example.com',
 'http://spoofed.burpcollaborator.net', 'http://localtest.me', 'http://127.0.0.1.nip.io',
 'jar:http://x!/', 'netdoc:///etc/passwd', 'dict://127.0.0.1:11211/', 'ldap://x', 'tftp://x', 'sftp://x',
 'unix:///var/run/docker.sock', 'http+unix://x', 'http://%31%32%37.0.0.1',
 'http://[0:0:0:0:0:ffff:127.0.0.1]', 'http://[::ffff:169.254.169.254]', 'http://[::ffff:0:127.0.0.1]',
 'http://192.0.0.192/', 'http://192.88.99.1/', 'http://198.51.100.1', 'http://203.0.113.9']  # fmt: skip

CASES = [({'url': 'http://127.0.0.1:8000/', 'config': {'allow_loopback': True}}, 'allow'),
 ({'url': 'http://localhost:3000/', 'config': {'allow_loopback': True}}, 'allow'),
 ({'url': 'http://[::1]:1/', 'config': {'allow_loopback': True}}, 'allow'),
 ({'url': 'http://127.5.5.5/', 'config': {'allow_loopback': True}}, 'allow'),
 ({'url': 'http://0.0.0.0/', 'config': {'allow_loopback': True}}, 'deny'),
 ({'url': 'http://10.0.0.1/', 'config': {'allow_loopback': True}}, 'deny'),
 ({'url': 'http://169.254.169.254/', 'config': {'allow_loopback': True}}, 'deny'),
 ({'url': 'https://example.com/',
   'redirects': ['http://127.0.0.1/'],
   'config': {'allow_loopback': True}},
  'deny'),
 ({'url': 'http://127.0.0.1/', 'redirects': ['http://127.0.0.1:9/'], 'config': {'allow_loopback': True}},
  'allow'),
 ({'url': 'http://127.0.0.1/',
   'redirects': ['https://example.com/'],
   'config': {'allow_loopback': True}},
  'allow'),
 ({'url': 'http://127.0.0.1/',
   'redirects': ['https://example.com/', 'http://127.0.0.1/'],
   'config': {'allow_loopback': True}},
  'deny'),
 ({'url': 'https://example.com/', 'redirects': ['https://a.example.com/', '/x', 'y?z']}, 'allow'),
 ({'url': 'https://example.com/', 'redirects': ['/a', '/b', '/c', '/d', '/e']}, 'allow'),
 ({'url': 'https://example.com/', 'redirects': ['/a', '/b', '/c', '/d', '/e', '/f']}, 'deny'),
 ({'url': 'https://example.com/', 'redirects': ['file:///etc/passwd']}, 'deny'),
 ({'url': 'https://example.com/', 'redirects': ['//priv.com/']}, 'deny'),
 ({'url': 'https://example.com/', 'redirects': ['https://u:p@example.com/']}, 'deny'),
 ({'url': 'https://example.com/', 'config': {'allowed_hosts': ['example.com']}}, 'allow'),
 ({'url': 'https://a.example.com/', 'config': {'allowed_hosts': ['example.com']}}, 'deny'),
 ({'url': 'https://EXAMPLE.com./', 'config': {'allowed_hosts': ['Example.COM.']}}, 'allow'),
 ({'url': 'https://evil.com/', 'config': {'allowed_hosts': ['example.com']}}, 'deny'),
 ({'url': 'https://example.com/',
   'redirects': ['https://evil.com/'],
   'config': {'allowed_hosts': ['example.com']}},
  'deny'),
 ({'url': 'https://priv.com/', 'config': {'allowed_hosts': ['priv.com']}}, 'deny'),
 ({'url': 'https://example.com/', 'config': {'allowed_hosts': []}}, 'allow'),
 ({'url': 'https://example.com/'}, 'allow')]  # fmt: skip
"""Redirects and configuration, and the verdict."""


@each_row("address", ALLOWED, ids=ascii)
def test_a_public_address_may_be_fetched(address):
    assert check_url({"url": address, "dns": DNS})["verdict"] == "allow"


@each_row("address", DENIED, ids=lambda address: ascii(address)[:60])
def test_an_address_that_leads_elsewhere_or_reads_in_two_ways_is_denied(address):
    assert check_url({"url": address, "dns": DNS})["verdict"] == "deny"
    assert (
        check_url({"url": address, "dns": DNS, "config": {"allowed_hosts": ["example.com", "priv.com"]}})[
            "verdict"
        ]
        == "deny"
    )
    assert (
        check_url({"url": "https://evil.com/", "redirects": [address], "dns": DNS})["verdict"] == "deny"
        or "/" in address[:1]
        or "//" not in address
    )


@each_row(("case", "verdict"), CASES)
def test_every_hop_and_the_configuration_count(case, verdict):
    assert check_url({"dns": DNS, **case})["verdict"] == verdict


@pytest.mark.parametrize("name", ["EXAMPLE.COM", "example.com.", "Example.Com."])
def test_names_are_compared_without_case_and_without_the_last_dot(name):
    assert check_url({"url": "https://example.com/", "dns": {name: ["93.184.216.34"]}})["verdict"] == "allow"
    assert (
        check_url({"url": f"https://{name}/", "dns": DNS, "config": {"allowed_hosts": [name]}})["verdict"]
        == "allow"
    )


def test_a_name_without_an_answer_is_denied():
    assert check_url({"url": "https://example.com/"})["verdict"] == "deny"
